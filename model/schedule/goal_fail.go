package schedule

import (
	"fmt"
	"strings"
)

// failIn sets the error for something unexpected inside a line of a block. If the file ends here,
// in the middle of a word or where one is missing, that is the fault to report.
func (r *goalReader) failIn(format string, args ...any) bool {
	end := r.at
	for end < len(r.data) && byteClass[r.data[end]] != 0 {
		end++
	}
	if end == len(r.data) {
		return r.fail("the file ends inside an operation, and the block of rank %d is not closed", r.rank)
	}
	return r.fail(format, args...)
}

// failStatement sets the error for a line of a block that begins with something else than a word.
func (r *goalReader) failStatement() bool {
	switch {
	case r.at >= len(r.data):
		return r.fail("the file ends, and the block of rank %d is not closed; its } is missing", r.rank)
	case r.peek() == ':':
		return r.fail("the label before the : is missing")
	case r.peek() == '{':
		return r.fail("a { inside the block of rank %d; the } of that block is missing", r.rank)
	}
	return r.fail("expected an operation, a dependency or }, got %s", r.found())
}

// failAfterWord sets the error for a line that begins with a word which is followed neither by a
// colon nor by requires.
func (r *goalReader) failAfterWord(word []byte) bool {
	return r.failIn("%s is neither an operation (send, recv, calc) nor a label followed by : or requires or irequires; here is %s",
		quote(word), r.found())
}

// failOutside sets the error for something else than a block between the blocks.
func (r *goalReader) failOutside() bool {
	switch {
	case r.peek() == '}':
		return r.fail("a } without an open block")
	case r.keyword("num_ranks"):
		return r.fail("num_ranks is given a second time")
	case r.keyword("send"), r.keyword("recv"), r.keyword("calc"):
		return r.fail("an operation outside of a block; operations belong between rank N { and }")
	}
	return r.fail("expected a block (rank N {), got %s", r.found())
}

// failNumber sets the error for a number that is missing.
func (r *goalReader) failNumber(what string) bool {
	rest := r.data[r.at:]
	if len(rest) > 1 && rest[0] == '-' && rest[1]-'0' <= 9 {
		return r.fail("negative %s; %s must be 0 or more", strings.TrimPrefix(what, "the "), what)
	}
	if r.peek() == ':' {
		return r.fail("send, recv, calc, rank and num_ranks are keywords and cannot be labels")
	}
	message := fmt.Sprintf("%s is missing, here is %s", what, r.found())
	if r.rank < 0 {
		return r.fail("%s", message)
	}
	return r.failIn("%s", message)
}
