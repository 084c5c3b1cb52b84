package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// together runs body once per member of a group.
func together(t *testing.T, size int, body func(g Group) error) {
	t.Helper()
	var wg sync.WaitGroup
	for _, m := range Local(size) {
		wg.Go(func() {
			if err := body(m); err != nil {
				t.Errorf("process %d: %v", m.Rank(), err)
				m.Break()
			}
		})
	}
	wg.Wait()
}

func TestExchangeGivesEveryPartToItsReceiver(t *testing.T) {
	ctx := context.Background()
	for _, size := range []int{1, 2, 3, 8} {
		together(t, size, func(g Group) error {
			for round := range 50 {
				out := make([][]byte, size)
				for p := range out {
					if (p+round)%3 != 0 {
						out[p] = fmt.Appendf(nil, "%d to %d, round %d", g.Rank(), p, round)
					}
				}
				in, err := g.Exchange(ctx, out)
				if err != nil {
					return err
				}
				for p := range in {
					want := ""
					if (g.Rank()+round)%3 != 0 {
						want = fmt.Sprintf("%d to %d, round %d", p, g.Rank(), round)
					}
					if string(in[p]) != want {
						return fmt.Errorf("got %q, want %q", in[p], want)
					}
				}
			}
			if n := g.Traffic().Exchanges; n != 50 {
				return fmt.Errorf("%d exchanges counted", n)
			}
			return nil
		})
	}
}

func TestMessagesOfOneSenderStayInOrder(t *testing.T) {
	ctx := context.Background()
	const size, each = 4, 100
	together(t, size, func(g Group) error {
		for i := range each {
			if err := g.Send(ctx, (g.Rank()+1)%size, []byte{byte(i)}); err != nil {
				return err
			}
		}
		for i := range each {
			from, data, err := g.Receive(ctx)
			if err != nil {
				return err
			}
			if from != (g.Rank()+size-1)%size || data[0] != byte(i) {
				return fmt.Errorf("message %d: %v from %d", i, data, from)
			}
		}
		return nil
	})
}

func TestABrokenGroupLetsNobodyWait(t *testing.T) {
	members := Local(3)
	var wg sync.WaitGroup
	for _, m := range members[:2] {
		wg.Go(func() {
			if _, err := m.Exchange(context.Background(), make([][]byte, 3)); !errors.Is(err, ErrBroken) {
				t.Errorf("exchange ended with %v", err)
			}
		})
	}
	wg.Go(func() { members[2].Break() })
	wg.Wait()
	if _, _, err := members[0].Receive(context.Background()); !errors.Is(err, ErrBroken) {
		t.Errorf("receive ended with %v", err)
	}
}

func TestAnInterruptEndsAnExchange(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Local(2)[0].Exchange(ctx, make([][]byte, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("exchange ended with %v", err)
	}
}

func TestSharesCoverEverythingOnce(t *testing.T) {
	for n := range 40 {
		for size := 1; size <= 9; size++ {
			next := 0
			for p := range size {
				first, last := Share(n, p, size)
				if first != next || last < first {
					t.Fatalf("share %d of %d among %d: [%d, %d)", p, n, size, first, last)
				}
				for i := first; i < last; i++ {
					if o := Owner(n, i, size); o != p {
						t.Fatalf("owner of %d of %d among %d: %d, want %d", i, n, size, o, p)
					}
				}
				next = last
			}
			if next != n {
				t.Fatalf("%d of %d shared among %d", next, n, size)
			}
		}
	}
}
