package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestStreamGivesAllWhatTheFirstWrites(t *testing.T) {
	ctx := context.Background()
	for _, size := range []int{1, 2, 3, 8} {
		for _, length := range []int{0, 1, streamPiece - 1, streamPiece, streamPiece + 1, 3*streamPiece + 17} {
			want := make([]byte, length)
			for i := range want {
				want[i] = byte(i * 31 >> 3)
			}
			together(t, size, func(g Group) error {
				for _, step := range []int{1 << 20, 65_537} {
					err := Stream(ctx, g, func(w io.Writer) error {
						for rest := want; len(rest) > 0; rest = rest[min(step, len(rest)):] {
							if _, err := w.Write(rest[:min(step, len(rest))]); err != nil {
								return err
							}
						}
						return nil
					}, func(r io.Reader) error {
						got, err := io.ReadAll(r)
						if err == nil && !bytes.Equal(got, want) {
							err = fmt.Errorf("%d bytes arrive, want %d", len(got), len(want))
						}
						return err
					})
					if err != nil {
						return err
					}
				}
				if most := int64(2 * (length/streamPiece + 1)); size > 1 && g.Traffic().Exchanges > most {
					return fmt.Errorf("%d exchanges, want at most %d", g.Traffic().Exchanges, most)
				}
				return nil
			})
		}
	}
}

// A process that needs only the begin stays in step with the others.
func TestStreamNeedNotBeReadToTheEnd(t *testing.T) {
	ctx := context.Background()
	together(t, 3, func(g Group) error {
		for round := range byte(3) {
			err := Stream(ctx, g, func(w io.Writer) error {
				_, err := w.Write(bytes.Repeat([]byte{round}, 2*streamPiece+5))
				return err
			}, func(r io.Reader) error {
				head := make([]byte, 10)
				if _, err := io.ReadFull(r, head); err != nil {
					return err
				}
				if head[9] != round {
					return fmt.Errorf("round %d reads %d", round, head[9])
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// If the writer fails, nobody hangs once the job is broken.
func TestStreamOfAFailure(t *testing.T) {
	members := Local(2)
	said := errors.New("the file is damaged")
	done := make(chan error)
	go func() {
		done <- Stream(context.Background(), members[1], nil, func(r io.Reader) error {
			_, err := io.ReadAll(r)
			return err
		})
	}()
	err := Stream(context.Background(), members[0], func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 2*streamPiece))
		return said
	}, nil)
	if !errors.Is(err, said) {
		t.Errorf("process 0: %v", err)
	}
	members[0].Break()
	if err := <-done; !errors.Is(err, ErrBroken) {
		t.Errorf("process 1: %v", err)
	}
}
