package parallel

import (
	"errors"
	"strings"
	"testing"

	"slackline/internal/fault"
)

// TestPanicsReachTheCaller checks that a panic on a thread becomes one of the goroutine that waits, with its place.
func TestPanicsReachTheCaller(t *testing.T) {
	for _, threads := range []int{1, 4} {
		err := func() (err error) {
			defer fault.Catch(&err)
			Each(100, threads, func(i int) {
				if i == 7 {
					panic("planted")
				}
			})
			return nil
		}()
		var e *fault.Error
		if !errors.As(err, &e) || e.Value != "planted" || !strings.HasPrefix(e.Where, "parallel/group_test.go:") {
			t.Errorf("%d threads: %v, want the fault of this file", threads, err)
		}
	}
}
