package schedule

// Nearly all lines of generated files have the same plain form: a label of a known prefix and a number, one blank between
// words, no comments. They are read here without a look at what else a line may be. A line that differs in anything is left
// to the general way, which also finds what is wrong.

// plainLine reads one of these lines:
//
//	LABEL requires LABEL
//	LABEL: calc INT
//	LABEL: send INTb to INT [ tag INT ]
//	LABEL: recv INTb from INT [ tag INT ]
//
// It reports whether the line was read; if not, nothing has happened. A label that is defined twice is an error: ok is false.
func (r *goalReader) plainLine() (read, ok bool) {
	data := r.data
	w, number, at := r.labels.scan(data, r.at)
	if w == nil {
		return false, true
	}
	const requires, opLength = " requires ", len(": send ")
	switch {
	case followsAt(data, at, requires):
		w2, number2, end := r.labels.scan(data, at+len(requires))
		if w2 == nil || end >= len(data) || data[end] != '\n' {
			return false, true
		}
		who, what := w.op(number), w2.op(number2)
		if who < 0 || what < 0 || who == what {
			return false, true
		}
		r.backward = r.backward || what >= who
		r.edges = append(r.edges, edge{uint32(what), NewDependent(who, false)})
		r.at = end + 1
		r.line++
		return true, true
	case at+opLength < len(data) && data[at] == ':' && data[at+1] == ' ':
		return r.plainOp(w, number, data[r.at:at], at+2)
	}
	return false, true
}

// plainOp reads an operation that begins at a place of the data, with a label of a window.
func (r *goalReader) plainOp(w *labelWindow, number uint32, label []byte, at int) (read, ok bool) {
	data := r.data
	op := Op{}
	direction := ""
	switch string(data[at : at+5]) {
	case "send ":
		op.Kind, direction = Send, "b to "
	case "recv ":
		op.Kind, direction = Recv, "b from "
	case "calc ":
		op.Kind = Calc
	default:
		return false, true
	}
	value, at := plainNumber(data, at+5)
	if at < 0 {
		return false, true
	}
	op.Size = int64(value)
	if op.Kind == Calc {
		op.Size *= psPerNs
	} else {
		if !followsAt(data, at, direction) {
			return false, true
		}
		if value, at = plainNumber(data, at+len(direction)); at < 0 || value >= uint64(r.ranks) {
			return false, true
		}
		op.Peer = int32(value)
		if followsAt(data, at, " tag ") {
			if value, at = plainNumber(data, at+len(" tag ")); at < 0 || value > maxTag {
				return false, true
			}
			op.Tag = uint32(value)
		}
	}
	if at >= len(data) || data[at] != '\n' {
		return false, true
	}
	line := r.line
	r.at = at + 1
	r.line++
	return true, r.add(w, number, label, &op, line)
}

// followsAt reports whether text is at a place of the data.
func followsAt(data []byte, at int, text string) bool {
	return at+len(text) <= len(data) && string(data[at:at+len(text)]) == text
}

// plainNumber reads a number of at most 15 digits and returns where it ends; -1 if there is none.
func plainNumber(data []byte, at int) (value uint64, end int) {
	const most = 15
	for end = at; end < len(data) && data[end]-'0' <= 9; end++ {
		value = value*10 + uint64(data[end]-'0')
	}
	if n := end - at; n == 0 || n > most {
		return 0, -1
	}
	return value, end
}

// scan reads a label of one of the windows and returns where it ends; nil if there is none, or one that needs a closer look.
func (t *labelTable) scan(data []byte, at int) (w *labelWindow, number uint32, end int) {
	const most = 8 // digits: less than maxLabelNumber
	for i := range t.windows[:t.open] {
		w := &t.windows[i]
		begin := at + len(w.prefix)
		if begin >= len(data) || data[at] != w.prefix[0] || len(w.prefix) > 1 && string(data[at:begin]) != string(w.prefix) {
			continue
		}
		number, end = 0, begin
		for ; end < len(data) && data[end]-'0' <= 9; end++ {
			number = number*10 + uint32(data[end]-'0')
		}
		if n := end - begin; n == 0 || n > most || data[begin] == '0' || end < len(data) && byteClass[data[end]] != 0 {
			return nil, 0, 0
		}
		return w, number, end
	}
	return nil, 0, 0
}

// op returns the operation with a number; -1: the window has none.
func (w *labelWindow) op(number uint32) int {
	if i := number - w.base; uint64(i) < uint64(len(w.ops)) {
		return int(w.ops[i]) - 1
	}
	return -1
}
