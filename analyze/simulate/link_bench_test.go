package simulate

import (
	"context"
	"fmt"
	"testing"

	"slackline/internal/cluster"
)

// echo is a process among many that all say what this one says.
type echo struct {
	cluster.Group
	size int
}

func (e echo) Size() int { return e.size }

func (e echo) Exchange(_ context.Context, out [][]byte) ([][]byte, error) { return out, nil }

// BenchmarkLinkExchange measures what a window costs a process beside the exchange itself: telling all others, and hearing them.
func BenchmarkLinkExchange(b *testing.B) {
	for _, size := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("processes=%d", size), func(b *testing.B) {
			l := &link{ctx: context.Background(), group: echo{cluster.Alone(), size}, parts: make([][]byte, size)}
			for q := range size + 1 {
				l.first = append(l.first, q)
			}
			var p ports
			p.open(l)
			for b.Loop() {
				if _, err := l.exchange(notice{next: 1234, messages: 1 << 20}, []*ports{&p}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
