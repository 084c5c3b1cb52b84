package input

import (
	"context"
	"io"
	"os"

	"slackline/internal/fault"
	"slackline/internal/source"
)

// Interruptible returns a reader of r whose Read ends with the error of ctx as soon as that is done,
// also if r is a pipe on which nothing comes. What r gives later is lost. The reader is not safe for
// several goroutines.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, r: r}
}

type interruptible struct {
	ctx    context.Context
	r      io.Reader
	buffer []byte // of the reading goroutine, since the caller's cannot be taken away from it
}

// chunk bounds the buffer of an interruptible reader.
const chunk = 1 << 20

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	p = p[:min(len(p), chunk)]
	if cap(i.buffer) < len(p) {
		i.buffer = make([]byte, len(p))
	}
	buffer := i.buffer[:len(p)]
	n, err := await(i.ctx, func() (int, error) { return i.r.Read(buffer) })
	return copy(p, buffer[:n]), err
}

// await returns what f returns, or the error of ctx if that is done first; f is then left alone.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	fault.Go(func() {
		value, err := f()
		done <- outcome{value, err}
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// open opens a file for reading. Pipes and devices, on which already the opening may wait for
// ever, can be interrupted.
func open(ctx context.Context, path string) (*os.File, io.Reader, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		f, err := os.Open(path)
		return f, f, err
	}
	f, err := await(ctx, func() (*os.File, error) { return source.Open(path) })
	return f, Interruptible(ctx, f), err
}
