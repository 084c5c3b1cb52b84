package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestPlainText(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "run.slt", Err: fs.ErrNotExist}
	denied := &fs.PathError{Op: "open", Path: "run.slt", Err: fs.ErrPermission}
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.New("no ranks"), "no ranks"},
		{missing, "run.slt: no such file or directory"},
		{denied, "run.slt: permission denied"},
		{fmt.Errorf("rank 3: %w", missing), "rank 3: run.slt: no such file or directory"},
		{Usagef("--top: give %d or more", 0), "--top: give 0 or more"},
	} {
		if got := PlainText(tc.err); got != tc.want {
			t.Errorf("PlainText(%v) = %q, want %q", tc.err, got, tc.want)
		}
	}
	if got := TryHelp("") + TryHelp("slackline waits"); got != "\nTry 'slackline waits --help'." {
		t.Errorf("TryHelp = %q", got)
	}
}
