package input

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// An input on which nothing comes is given up when the context is done.
func TestOpenIsInterrupted(t *testing.T) {
	silent, never := io.Pipe()
	defer never.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		never.Write([]byte("num_ranks 2\n")) // returns when Open waits for more
		cancel()
	}()
	if _, err := Open(ctx, Stdin, Options{Stdin: silent}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, want %v", err, context.Canceled)
	}
}

// Otherwise the content is as it was, however it comes.
func TestInterruptibleReads(t *testing.T) {
	text := strings.Repeat("0123456789", chunk/4)
	for name, r := range map[string]io.Reader{
		"whole":   strings.NewReader(text),
		"halves":  iotest.HalfReader(strings.NewReader(text)),
		"with it": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := io.ReadAll(Interruptible(t.Context(), r))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes and %v, want %d and no error", name, len(got), err, len(text))
		}
	}
	failure := errors.New("broken")
	if _, err := io.ReadAll(Interruptible(t.Context(), iotest.ErrReader(failure))); !errors.Is(err, failure) {
		t.Errorf("error = %v, want %v", err, failure)
	}
}
