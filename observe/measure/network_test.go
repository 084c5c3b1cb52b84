//go:build linux

package measure

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"testing"
)

// modelLink is a link that follows LogGP, with a change of protocol and some noise.
type modelLink struct {
	l, send, receive, gap, perByte float64
	limit                          int     // messages above it take another protocol
	gap2, perByte2, extra          float64 // of that one; extra is on each message
	noise                          float64 // relative
	r                              *rand.Rand
}

func (m *modelLink) costs(size int) (gap, perByte, extra float64) {
	if size > m.limit {
		return m.gap2, m.perByte2, m.extra
	}
	return m.gap, m.perByte, 0
}

func (m *modelLink) oneWay(size int) float64 {
	_, perByte, extra := m.costs(size)
	return m.send + m.l + float64(size-1)*perByte + m.receive + extra
}

func (m *modelLink) noisy(t float64) float64 { return t * (1 + m.noise*m.r.ExpFloat64()) }

func (m *modelLink) Burst(n int, pause float64, size, repeat int) ([]float64, error) {
	gap, perByte, _ := m.costs(size)
	step := math.Max(m.send+pause, gap+float64(size-1)*perByte)
	times := make([]float64, repeat)
	for i := range times {
		times[i] = m.noisy(2*m.oneWay(size) + float64(n-1)*step)
	}
	return times, nil
}

func (m *modelLink) Drain(n int, pause float64, _, repeat int) ([]float64, error) {
	times := make([]float64, repeat)
	for i := range times {
		times[i] = m.noisy(float64(n-1) * (pause + m.receive))
	}
	return times, nil
}

func (m *modelLink) Eager(size int, _ bool) (bool, error) { return size <= m.limit, nil }

func within(t *testing.T, name string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s is %.6g, want %.6g within %g %%", name, got, want, 100*share)
	}
}

func TestNetworkOfModel(t *testing.T) {
	m := &modelLink{
		l: 4000, send: 900, receive: 700, gap: 1500, perByte: 0.4, limit: 8192,
		gap2: 3000, perByte2: 0.1, extra: 9000, noise: 0.001, r: rand.New(rand.NewPCG(1, 2)),
	}
	n, err := MeasureNetwork(context.Background(), m, DefaultNetwork())
	if err != nil {
		t.Fatal(err)
	}
	within(t, "L", n.L.Value, m.l, 0.05)
	within(t, "o_s", n.Send.Value, m.send, 0.05)
	within(t, "o_r", n.Receive.Value, m.receive, 0.05)
	within(t, "g", n.Gap.Value, m.gap, 0.05)
	if len(n.Protocols) != 2 || n.Protocols[0].To != m.limit || n.Eager != m.limit || len(n.Jumps()) != 1 || n.Jumps()[0] != m.limit {
		t.Fatalf("protocols %+v, S %d, jumps %v", n.Protocols, n.Eager, n.Jumps())
	}
	within(t, "G", n.Protocols[0].PerByte.Value, m.perByte, 0.05)
	within(t, "G of large messages", n.Protocols[1].PerByte.Value, m.perByte2, 0.05)
	within(t, "g of large messages", n.Protocols[1].Gap.Value, m.gap2, 0.05)
	for name, f := range map[string]Figure{"L": n.L, "o_s": n.Send, "g": n.Gap} {
		if f.Low > f.Value || f.High < f.Value {
			t.Errorf("%s: %+v does not hold its own value", name, f)
		}
	}
}

func TestNetworkRefuses(t *testing.T) {
	m := &modelLink{l: 1000, send: 100, receive: 100, gap: 200, perByte: 0.1, limit: 1 << 30, noise: 30, r: rand.New(rand.NewPCG(1, 2))}
	if _, err := MeasureNetwork(context.Background(), m, DefaultNetwork()); !errors.Is(err, ErrImplausible) {
		t.Errorf("a disturbed link gave %v", err)
	}
	m = &modelLink{l: 100000, send: 100, receive: 100, gap: 2e6, perByte: -5, limit: 1 << 30, r: rand.New(rand.NewPCG(1, 2))}
	if n, err := MeasureNetwork(context.Background(), m, DefaultNetwork()); !errors.Is(err, ErrImplausible) {
		t.Errorf("a link on which larger messages are faster gave %+v, %v", n, err)
	}
}

// TestNetworkIsInconclusive wants no result of parameters whose interval says nothing: one of a few rounds was late.
func TestNetworkIsInconclusive(t *testing.T) {
	steady := modelLink{l: 400, send: 90, receive: 70, gap: 150, perByte: 0.4, limit: 8192, gap2: 300, perByte2: 0.1, extra: 900, noise: 0.001,
		r: rand.New(rand.NewPCG(1, 2))}
	late := func(change func(m *modelLink)) func() (Link, error) {
		m := steady
		change(&m)
		return func() (Link, error) { return &m, nil }
	}
	o := DefaultNetwork()
	o.Repeat, o.Rounds = 5, 2
	for name, tc := range map[string]struct {
		renew func() (Link, error)
		want  error
	}{
		"steady":                {late(func(*modelLink) {}), nil},
		"a little late":         {late(func(m *modelLink) { m.receive *= 2 }), nil},
		"late receives":         {late(func(m *modelLink) { m.receive, m.l = 3000, -2530 }), ErrWide},
		"other time per byte":   {late(func(m *modelLink) { m.perByte2 = 0.07 }), nil},
		"far more per byte":     {late(func(m *modelLink) { m.perByte2 = 3 }), ErrWide},
		"late at every message": {late(func(m *modelLink) { m.l = 1.9e6 }), ErrImplausible},
	} {
		o.Renew = tc.renew
		link := steady
		n, err := MeasureNetwork(context.Background(), &link, o)
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
			if n != nil {
				t.Logf("%+v", *n)
			}
		}
	}
}

func TestNetworkOverTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- ServeTCP(context.Background(), l) }()
	link, err := DialTCP(context.Background(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultNetwork()
	o.Sizes, o.Repeat, o.Rounds, o.MaxEager = Sizes(1024), 10, 2, 1<<12
	n, err := MeasureNetwork(context.Background(), link, o)
	switch {
	case errors.Is(err, ErrImplausible): // a loaded machine is refused, not believed
	case err != nil:
		t.Fatal(err)
	case n.HalfRoundTrip.Value <= 0 || n.Eager != o.MaxEager || len(n.Points) != len(o.Sizes):
		t.Errorf("%+v", n)
	}
	if err := link.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestTCPServerRefusesStrangers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- ServeTCP(context.Background(), l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err == nil {
		t.Error("a stranger was served")
	}
}

// eagerLink is a link whose library sends messages up to a limit at once.
type eagerLink struct {
	Link
	limit int
	asked int
	fails bool
}

var errLink = errors.New("the link is broken")

func (l *eagerLink) Eager(size int, _ bool) (bool, error) {
	l.asked++
	if l.fails && l.asked > 3 {
		return false, errLink
	}
	return size <= l.limit, nil
}

// TestEagerLimit: the limit is found to the byte, with as many tries as the largest size has bits.
func TestEagerLimit(t *testing.T) {
	const most = 1 << 20
	for _, limit := range []int{0, 1, 2, 63, 64, 65, 4096, 65535, most - 1, most, most + 1, 1 << 30} {
		l := &eagerLink{limit: limit}
		if got, err := eagerLimit(l, most, true); err != nil || got != min(limit, most) || l.asked > 21 {
			t.Errorf("limit %d: found %d with %d tries, %v", limit, got, l.asked, err)
		}
	}
	if _, err := eagerLimit(&eagerLink{limit: 100, fails: true}, most, true); err != errLink {
		t.Errorf("a broken link: %v, want %v", err, errLink)
	}
}
