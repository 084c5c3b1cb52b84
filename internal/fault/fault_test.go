package fault

import (
	"errors"
	"strings"
	"testing"
)

func TestCatch(t *testing.T) {
	f := func() (err error) {
		defer Catch(&err)
		var list []int
		return errors.New(string(rune(list[3])))
	}
	var e *Error
	if err := f(); !errors.As(err, &e) || !strings.HasPrefix(e.Where, "fault/fault_test.go:") ||
		!strings.Contains(e.Error(), "index out of range [3]") {
		t.Errorf("f = %v, want a fault of this file", e)
	}
	if e != New(e) {
		t.Error("a fault that another goroutine hands over is made anew")
	}
}

func TestGo(t *testing.T) {
	caught := make(chan *Error, 1)
	defer Handle(func(e *Error) { caught <- e })()
	Go(func() { panic("planted\nhere") })
	if text := (<-caught).Error(); !strings.Contains(text, ": planted; here; ") || strings.Contains(text, "\n") {
		t.Errorf("the handler got %q, want one line", text)
	}
}
