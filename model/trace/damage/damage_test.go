package damage

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestError(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&Error{File: "a.txt", Line: 7, Offset: 90, What: "no rank"}, "a.txt:7: no rank"},
		{At("a.slt", 0, "%d chunks are missing", 2), "a.slt: byte 0: 2 chunks are missing"},
		{&Error{File: "a.slt", Offset: -1, What: "it is empty"}, "a.slt: it is empty"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		if !errors.Is(fmt.Errorf("rank 3: %w", tc.err), Err) {
			t.Errorf("%v is not damage", tc.err)
		}
	}
	if errors.Is(&Error{}, fs.ErrNotExist) {
		t.Error("damage is a missing file")
	}
}

func TestReason(t *testing.T) {
	inner := errors.New("too large")
	if got := Reason(fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist})); got != fs.ErrNotExist {
		t.Errorf("Reason = %v, want %v", got, fs.ErrNotExist)
	}
	if got := Reason(inner); got != inner {
		t.Errorf("Reason = %v, want %v", got, inner)
	}
}
