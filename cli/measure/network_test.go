package measure

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/model/machine"
	"slackline/model/unit"
	"slackline/observe/measure"
)

// plainLink is a link that follows LogGP exactly, with rendezvous above 4096 bytes.
type plainLink struct{ latency float64 }

const plainLimit = 4096

func (l plainLink) Burst(n int, pause float64, size, repeat int) ([]float64, error) {
	gap, perByte, extra := 400.0, 0.5, 0.0
	if size > plainLimit {
		gap, perByte, extra = 2000, 0.1, 5000
	}
	step := math.Max(200+pause, gap+perByte*float64(size-1))
	return repeated(2*(200+l.latency+perByte*float64(size-1)+100+extra)+float64(n-1)*step, repeat), nil
}

func (l plainLink) Drain(n int, pause float64, _, repeat int) ([]float64, error) {
	return repeated(float64(n-1)*(pause+100), repeat), nil
}

func (l plainLink) Eager(size int, _ bool) (bool, error) { return size <= plainLimit, nil }

func repeated(v float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// measuredPlain is a measurement of plain links, as overMPI makes it.
func measuredPlain(t *testing.T) *measuredNetwork {
	t.Helper()
	options := measure.DefaultNetwork()
	options.Repeat, options.Rounds = 5, 2
	r := &measuredNetwork{over: "Open MPI 0.0", hosts: []string{"a", "a", "b"}, options: &options}
	for i, latency := range []float64{300, 2000} {
		n, err := measure.MeasureNetwork(context.Background(), plainLink{latency}, options)
		if err != nil {
			t.Fatal(err)
		}
		c := measure.Class{Name: []string{"node", "far"}[i], Pairs: [][2]int{{0, i + 1}}, Usual: [2]int{0, i + 1}}
		r.classes = append(r.classes, measure.ClassNetwork{Class: c, Network: n})
	}
	return r
}

// TestWideIsInconclusive wants a measurement whose intervals say nothing to end with code 4 and the reason, and other errors as they are.
func TestWideIsInconclusive(t *testing.T) {
	var errs bytes.Buffer
	a := env.New(nil, nil, nil, &errs)
	wide := fmt.Errorf("L lies between 0 and 1.9 ms: %w", measure.ErrWide)
	var verdict exit.Verdict
	if err := inconclusiveIf(a, measure.ErrWide, wide); !errors.As(err, &verdict) || verdict != exit.Inconclusive ||
		!strings.Contains(errs.String(), "L lies between 0 and 1.9 ms") {
		t.Errorf("%v, %q, want code %d and the reason", err, errs.String(), exit.Inconclusive)
	}
	if err := inconclusiveIf(a, measure.ErrWide, measure.ErrImplausible); !errors.Is(err, measure.ErrImplausible) {
		t.Errorf("%v, want the error itself", err)
	}
}

func TestMeasuredNetworkOutput(t *testing.T) {
	r := measuredPlain(t)
	dir := t.TempDir()
	var out, errs bytes.Buffer
	a := env.New(nil, nil, &out, &errs)
	o := &measureNetworkOptions{machine: filepath.Join(dir, "m.yaml"), name: "mine",
		result: env.ResultFlags{Format: env.FormatText, Plot: filepath.Join(dir, "m.svg")}}
	if err := r.output(a, o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ranks 0 and 1 on a: class node", "ranks 0 and 2 on a, b: class far", "S: 4KiB (larger sends wait",
		"jump after 4KiB", "1B .. 4KiB", "10 GB/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(o.machine)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Read(o.machine, text)
	if err != nil {
		t.Fatal(err)
	}
	node, far := m.Classes[machine.Node], m.Classes[machine.Far]
	near := func(a, b unit.Duration) bool { return a >= b-2*unit.Nanosecond && a <= b+2*unit.Nanosecond }
	if m.Name != "mine" || !near(node.Latency, 300*unit.Nanosecond) || !near(far.Latency, 2*unit.Microsecond) || far.Eager != 4096 ||
		m.RanksPerNode != 2 || len(far.PerByte) != 2 || far.PerByte[1].From != 4097 {
		t.Errorf("the machine file is\n%s", text)
	}
	if picture, err := os.ReadFile(o.result.Plot); err != nil || !bytes.Contains(picture, []byte("half round trip, node")) {
		t.Errorf("the plot: %v", err)
	}
}

func TestMeasuredNetworkForPrograms(t *testing.T) {
	r := measuredPlain(t)
	a := env.New([]string{"measure", "network"}, nil, nil, nil)
	var b bytes.Buffer
	if err := a.WriteForm(&b, "measure network", r, env.FormatJSON); err != nil {
		t.Fatal(err)
	}
	var j networkDocument
	if err := json.Unmarshal(b.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	far := j.Classes[1]
	if math.Abs(far.L.Value-2000) > 2 || far.Eager != 4096 || len(far.Protocols) != 2 ||
		math.Abs(far.Protocols[1].PerByte.Value-0.1) > 0.001 || len(far.Points) == 0 || j.Provenance == nil {
		t.Errorf("%+v", far)
	}
	b.Reset()
	if err := a.WriteForm(&b, "measure network", r, env.FormatCSV); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2*len(far.Points) || rows[0][1] != "size" || rows[1][0] != "node" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestNetworkWords(t *testing.T) {
	for ns, want := range map[float64]string{0: "0", 0.4: "400ps", 1234.5: "1.235us", 1e9: "1s", 0.0004: "0"} {
		if got := nsText(ns); got != want {
			t.Errorf("nsText(%g) = %s, want %s", ns, got, want)
		}
	}
	if got := intervalText(measure.Figure{Low: -5, High: 1500}, nsText); got != "0 .. 1.5us" {
		t.Errorf("an interval below 0 is %s", got)
	}
	for d, want := range map[time.Duration]string{
		1500 * time.Millisecond: "2 s", 99 * time.Second: "99 s", 100 * time.Second: "2 min", 120 * time.Second: "2 min",
		121 * time.Second: "3 min",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%s) = %s, want %s", d, got, want)
		}
	}
	for _, tc := range []struct {
		done, total int
		want        time.Duration
	}{{1, 4, 40 * time.Second}, {2, 4, 20 * time.Second}, {0, 3, 30 * time.Second}, {4, 4, 10 * time.Second}} {
		if got := expected(10*time.Second, tc.done, tc.total); got != tc.want {
			t.Errorf("%d of %d in 10 s: %s, want %s", tc.done, tc.total, got, tc.want)
		}
	}
}

// S is the largest size that was sent eagerly, or a limit of the measurement.
func TestEagerText(t *testing.T) {
	o := &measure.NetworkOptions{MaxEager: 1 << 20}
	for _, tc := range []struct {
		eager, asleep int
		want          string
	}{
		{4096, 4096, "S: 4KiB (larger sends wait for their receive)"},
		{1 << 20, 1 << 20, "S: all messages up to 1MiB"},
		{1 << 20, 8192, "S: all messages up to 1MiB; 8KiB if the receiver does something else"},
		{4096, 1 << 20, "S: 4KiB (larger sends wait for their receive); all messages up to 1MiB if the receiver does something else"},
		{1000, 1000, "S: 1000B (larger sends wait for their receive)"},
	} {
		if got := eagerText(&measure.Network{Eager: tc.eager, EagerAsleep: tc.asleep}, o); got != tc.want {
			t.Errorf("%d, %d: %s, want %s", tc.eager, tc.asleep, got, tc.want)
		}
	}
}
