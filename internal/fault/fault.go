// Package fault makes mistakes of the program (panics) errors that can be reported, on whatever goroutine they happen.
//
// A panic that is not recovered ends the process at once, with all stacks on the standard error and whatever was
// written so far. So goroutines are started here or in package parallel: those that have a waiting caller hand the
// fault over, and the others call the handler that the program has set.
package fault

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

// Error is a mistake of the program.
type Error struct {
	Value any    // of the panic
	Where string // file and line of the program
	Stack string
}

// Error describes it in one line.
func (e *Error) Error() string {
	value := strings.Join(strings.FieldsFunc(fmt.Sprint(e.Value), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return fmt.Sprintf("internal error at %s: %s; this is a mistake in slackline: please report this line with the command and its input",
		e.Where, value)
}

// New makes an error of what recover returned. It is called where the panic can still be seen: by a deferred function.
func New(value any) *Error {
	if e, ok := value.(*Error); ok {
		return e // it comes from another goroutine
	}
	const deep = 64
	callers := make([]uintptr, deep)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	e := &Error{Value: value, Where: "an unknown place"}
	var stack strings.Builder
	seen := false // the panic, which follows the functions that recover
	for {
		f, more := frames.Next()
		fmt.Fprintf(&stack, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		switch {
		case f.Function == "runtime.gopanic":
			seen = true
			e.Where = "an unknown place" // the innermost panic comes first, the first one last
		case seen && e.Where == "an unknown place" && !strings.HasPrefix(f.Function, "runtime."):
			e.Where = fmt.Sprintf("%s:%d", shortPath(f.File), f.Line)
		}
		if !more {
			break
		}
	}
	e.Stack = stack.String()
	return e
}

// shortPath is the path of a source file as far as it means something elsewhere: its folder and its name.
func shortPath(file string) string {
	parts := strings.Split(file, "/")
	return strings.Join(parts[max(len(parts)-2, 0):], "/")
}

// Catch makes a panic the error of the function that defers it.
func Catch(err *error) {
	if value := recover(); value != nil {
		*err = New(value)
	}
}

// handler gets faults of goroutines that are not waited for.
var handler atomic.Pointer[func(*Error)]

// Handle sets what is done about faults of goroutines that are not waited for, and returns a function that restores what was
// done before. The handler ends the process; without one, the fault is printed before that.
func Handle(do func(*Error)) (restore func()) {
	before := handler.Swap(&do)
	return func() { handler.Store(before) }
}

// Go starts a goroutine. If it panics, the process ends in an orderly way.
func Go(f func()) {
	go func() {
		defer func() {
			if value := recover(); value != nil {
				end(New(value))
			}
		}()
		f()
	}()
}

func end(e *Error) {
	if do := handler.Load(); do != nil {
		(*do)(e)
		return
	}
	fmt.Fprintf(os.Stderr, "slackline: %v\n", e)
	os.Exit(1)
}
