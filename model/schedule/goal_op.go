package schedule

import "slices"

// statements reads the lines of a block up to its closing brace.
func (r *goalReader) statements() bool {
	for {
		if read, ok := r.plainLine(); !ok {
			return false
		} else if read {
			continue
		}
		if c := r.peek(); byteClass[c] != isLetter {
			if !r.skipToStatement() {
				return false
			}
			if r.peek() == '}' {
				r.at++
				return true
			}
		}
		word := r.word()
		if word == nil {
			return r.failStatement()
		}
		var ok bool
		switch string(word) {
		case "send":
			ok = r.operation(nil, Send)
		case "recv":
			ok = r.operation(nil, Recv)
		case "calc":
			ok = r.operation(nil, Calc)
		case "rank", "num_ranks":
			return r.fail("%s inside the block of rank %d: the } of that block is missing", word, r.rank)
		default:
			ok = r.labeled(word)
		}
		if !ok {
			return false
		}
	}
}

// labeled reads the rest of a line that begins with a label: an operation or a dependency.
func (r *goalReader) labeled(label []byte) bool {
	if !r.blanks() {
		return false
	}
	if r.peek() == ':' {
		r.at++
		if r.peek() == ' ' {
			r.at++
		}
		if !r.blanks() {
			return false
		}
		switch {
		case r.keyword("send"):
			return r.operation(label, Send)
		case r.keyword("recv"):
			return r.operation(label, Recv)
		case r.keyword("calc"):
			return r.operation(label, Calc)
		}
		return r.failIn("an operation (send, recv or calc) must follow the label %s, here is %s", clip(label), r.found())
	}
	onStart := false
	switch {
	case r.keyword("requires"):
	case r.keyword("irequires"):
		onStart = true
	default:
		return r.failAfterWord(label)
	}
	if !r.blanks() {
		return false
	}
	on := r.word()
	if on == nil {
		return r.failIn("a label must follow requires, here is %s", r.found())
	}
	if isReserved(on) {
		return r.fail("%s is a keyword and cannot be a label", on)
	}
	return r.dependency(label, on, onStart) && r.endLine("a dependency")
}

// isReserved reports whether a word cannot be a label.
func isReserved(word []byte) bool {
	switch string(word) {
	case "send", "recv", "calc", "rank", "num_ranks":
		return true
	}
	return false
}

// dependency makes one operation wait for another.
func (r *goalReader) dependency(label, on []byte, onStart bool) bool {
	who, what := r.labels.find(label), r.labels.find(on)
	if who == what && string(label) == string(on) {
		verb := "requires"
		if onStart {
			verb = "irequires"
		}
		return r.fail("rank %d: operation %s %s itself (line %d); remove the dependency", r.rank, clip(label), verb, r.line)
	}
	if who < 0 {
		r.forwards = append(r.forwards, forward{label, r.line, len(r.edges), true})
	}
	if what < 0 {
		r.forwards = append(r.forwards, forward{on, r.line, len(r.edges), false})
	}
	r.backward = r.backward || what >= who
	r.edges = append(r.edges, edge{uint32(max(what, 0)), NewDependent(max(who, 0), onStart)})
	return true
}

// operation reads the rest of an operation after its keyword and adds it.
func (r *goalReader) operation(label []byte, kind Kind) bool {
	line := r.line // a comment inside may span lines
	op := Op{Kind: kind}
	if kind == Calc {
		ns, ok := r.integer("the time")
		if !ok || !r.apart("the time") {
			return false
		}
		if ns > maxCalcNs {
			return r.fail("a time of %s ns does not fit into 63 bits (times are kept in ps; at most %d ns)", r.lastNumber(), int64(maxCalcNs))
		}
		op.Size = int64(ns) * psPerNs
	} else if !r.message(&op) {
		return false
	}
	if r.peek() != '\n' && !r.fields(&op) {
		return false
	}
	return r.endLine("the operation") && r.add(nil, 0, label, &op, line)
}

// message reads size and peer of a send or receive.
func (r *goalReader) message(op *Op) bool {
	size, ok := r.integer("the size")
	if !ok {
		return false
	}
	if size > maxSize {
		return r.fail("the size %s does not fit into 63 bits", r.lastNumber())
	}
	op.Size = int64(size)
	if r.peek() != 'b' && !r.blanks() {
		return false
	}
	if !r.keyword("b") {
		return r.failIn("the b after the size is missing (%d b), here is %s", size, r.found())
	}
	if r.peek() == ' ' {
		r.at++
	}
	if !r.blanks() {
		return false
	}
	direction := "to"
	if op.Kind == Recv {
		direction = "from"
	}
	if !r.keyword(direction) {
		return r.failIn("%s and a rank must follow the size of a %s, here is %s", direction, op.Kind, r.found())
	}
	if any, ok := r.wildcard(op.Kind, "source"); any || !ok {
		op.Peer = AnySource
		r.shape.Wildcards = true
		return ok
	}
	peer, ok := r.integer("the rank")
	if !ok || !r.apart("the rank") {
		return false
	}
	if peer >= uint64(r.ranks) {
		return r.fail("%s %s rank %s, but the file declares %s", op.Kind, direction, r.lastNumber(), r.declared())
	}
	op.Peer = int32(peer)
	return true
}

// wildcard goes over the -1 that may stand for any source or any tag of a receive.
func (r *goalReader) wildcard(kind Kind, what string) (any, ok bool) {
	if r.peek() == ' ' {
		r.at++
	}
	if r.peek() != '-' && !r.blanks() {
		return false, false
	}
	if r.peek() != '-' {
		return false, true
	}
	if byteClass[r.data[r.at-1]] != 0 {
		return false, r.fail("a blank is missing before -1")
	}
	if rest := r.data[r.at:]; len(rest) < 2 || rest[1] != '1' || len(rest) > 2 && byteClass[rest[2]] != 0 {
		return false, r.fail("negative %s; only -1 (any %s) is allowed, and for recv only", what, what)
	}
	if kind != Recv {
		return false, r.fail("-1 (any %s) is allowed for recv only", what)
	}
	r.at += 2
	return true, true
}

// fieldNames are the optional fields of an operation, in the order that they must have.
var fieldNames = [...]string{"tag", "cpu", "nic"}

// fields reads the optional fields of an operation.
func (r *goalReader) fields(op *Op) bool {
	last := -1
	for {
		if r.peek() == ' ' {
			r.at++
		}
		if !r.blanks() {
			return false
		}
		if byteClass[r.peek()] != isLetter {
			return true
		}
		field := 0
		for field < len(fieldNames) && !r.keyword(fieldNames[field]) {
			field++
		}
		switch {
		case field == len(fieldNames):
			return true // endLine will complain
		case op.Kind == Calc && field != 1:
			return r.fail("calc has no %s, only cpu", fieldNames[field])
		case field == last:
			return r.fail("%s is given twice", fieldNames[field])
		case field < last:
			return r.fail("%s must come before %s (the order is tag, cpu, nic)", fieldNames[field], fieldNames[last])
		}
		last = field
		if !r.field(op, field) {
			return false
		}
	}
}

// field reads the value of an optional field.
func (r *goalReader) field(op *Op, field int) bool {
	name := fieldNames[field]
	if field == 0 {
		any, ok := r.wildcard(op.Kind, "tag")
		if !ok {
			return false
		}
		if any {
			op.Tag = AnyTag
			r.shape.Wildcards = true
			return true
		}
	}
	value, ok := r.integer(name)
	if !ok || !r.apart(name) {
		return false
	}
	most := uint64(maxUnit)
	if field == 0 {
		most = maxTag
	}
	if value > most {
		return r.fail("%s %s is out of range (0 to %d)", name, r.lastNumber(), most)
	}
	switch field {
	case 0:
		op.Tag = uint32(value)
	case 1:
		op.CPU = uint8(value)
	case 2:
		op.NIC = uint8(value)
	}
	return true
}

// add appends an operation with its label, and the window and the number of that if they are known.
func (r *goalReader) add(w *labelWindow, number uint32, label []byte, op *Op, line int) bool {
	if names := r.names; len(names.line) == cap(names.line) {
		room := r.expect(len(names.line), len(names.line)/8+64)
		names.line = slices.Grow(names.line, room)
		names.label = slices.Grow(names.label, room)
		if r.pack == nil {
			r.ops = slices.Grow(r.ops, room)
		}
	}
	index := len(r.ops) - r.blocks[len(r.blocks)-1].ops
	if index >= MaxBlockOps {
		return r.fail("rank %d has more than %d operations, which is too much for one rank", r.rank, MaxBlockOps)
	}
	name := uint32(0)
	if label != nil {
		before := -1
		if before, name = r.labels.define(w, number, label, index, r.names); before >= 0 {
			r.line = line
			return r.fail("label %s is defined twice in rank %d (first in line %d)",
				clip(label), r.rank, r.names.line[len(r.names.line)-index+before])
		}
	}
	r.shape.CPUs = max(r.shape.CPUs, int(op.CPU)+1)
	r.shape.NICs = max(r.shape.NICs, int(op.NIC)+1)
	r.ops = append(r.ops, *op)
	r.names.line = append(r.names.line, lineNumber(line))
	r.names.label = append(r.names.label, name)
	return true
}
