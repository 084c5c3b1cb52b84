package plot

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"slackline/model/unit"
)

// This file makes the figures that the golden files and the other tests use.

const (
	exampleL = 2500 * unit.Nanosecond
	exampleO = 1500 * unit.Nanosecond
	exampleG = 1000 * unit.Nanosecond
)

// exampleRun is a tiny LogGP machine: it puts CPU time on rows and records what it does.
type exampleRun struct {
	MessageDiagram
	cpu, nic []unit.Duration // when each is free
}

func newExampleRun(title string, ranks int) *exampleRun {
	r := &exampleRun{cpu: make([]unit.Duration, ranks), nic: make([]unit.Duration, ranks)}
	r.Title = title
	r.Subtitle = "L = 2.5 µs, o = 1.5 µs, g = 1 µs"
	for i := range ranks {
		r.Rows = append(r.Rows, DiagramRow{Label: fmt.Sprint(i)})
	}
	return r
}

// work takes CPU time and returns its end.
func (r *exampleRun) work(rank int, ready, length unit.Duration, kind SpanKind) unit.Duration {
	start := max(ready, r.cpu[rank])
	r.cpu[rank] = start + length
	r.Spans = append(r.Spans, Span{Row: rank, Start: start, End: start + length, Kind: kind})
	return start + length
}

// send puts down a send and returns its arrow, whose arrival is when the first byte is there.
func (r *exampleRun) send(from, to int, ready unit.Duration, label string) Arrow {
	end := r.work(from, max(ready, r.nic[from]), exampleO, Send)
	r.nic[from] = end - exampleO + exampleG
	a := Arrow{From: from, To: to, Depart: end, Arrive: end + exampleL, Label: label}
	r.Arrows = append(r.Arrows, a)
	return a
}

func (r *exampleRun) finish() *MessageDiagram {
	for i := range r.Rows {
		r.Rows[i].Finish, r.Rows[i].Finished = r.cpu[i], true
	}
	return &r.MessageDiagram
}

// binomialBroadcast is figure 3 of the noise paper: rank r sends to r + 2^k for all 2^k > r.
func binomialBroadcast(ranks int) *MessageDiagram {
	r := newExampleRun(fmt.Sprintf("Binomial broadcast on %d processes", ranks), ranks)
	ready := make([]unit.Duration, ranks)
	for rank := range ranks {
		for step := 1; rank+step < ranks; step *= 2 {
			if step > rank {
				a := r.send(rank, rank+step, ready[rank], "")
				ready[rank+step] = r.work(rank+step, a.Arrive, exampleO, Receive)
			}
		}
	}
	return r.finish()
}

// twoBarriers is figure 4: two dissemination barriers, a compute phase between them, rank 4 late.
func twoBarriers(ranks, late int) *MessageDiagram {
	r := newExampleRun(fmt.Sprintf("Two dissemination barriers, process %d delayed by 12 µs", late), ranks)
	ready := make([]unit.Duration, ranks)
	r.barrier(ready)
	for i := range ranks {
		ready[i] = r.work(i, ready[i], 4*unit.Microsecond, Compute)
		if i == late {
			ready[i] = r.work(i, ready[i], 12*unit.Microsecond, Noise)
		}
	}
	r.barrier(ready)
	r.Caption = "All processes leave the second barrier late, but not equally so."
	return r.finish()
}

func (r *exampleRun) barrier(ready []unit.Duration) {
	ranks := len(ready)
	for step := 1; step < ranks; step *= 2 {
		sent := make([]Arrow, ranks)
		for i := range ranks {
			sent[i] = r.send(i, (i+step)%ranks, ready[i], "")
		}
		for i := range ranks {
			from := sent[(i-step+ranks)%ranks]
			ready[i] = max(r.work(i, from.Arrive, exampleO, Receive), sent[i].Depart)
		}
	}
}

// rendezvous has every kind of span, labels, an overlap and characters that XML must escape.
func rendezvous() *MessageDiagram {
	us := unit.Microsecond
	return &MessageDiagram{
		Title:    `A rendezvous <of> "two" & noise`,
		Subtitle: "every kind of span",
		Rows: []DiagramRow{{Label: "sender & co", Finish: 14 * us, Finished: true}, {Label: "<receiver>", Finish: 16 * us, Finished: true},
			{Label: "idle"}},
		Spans: []Span{
			{0, 0, 2 * us, Compute}, {0, 2 * us, 3 * us, Send}, {0, 3 * us, 9 * us, Blocked}, {0, 12 * us, 14 * us, Compute},
			{1, 0, 5 * us, Compute}, {1, 5 * us, 8 * us, Noise}, {1, 8 * us, 9 * us, Receive}, {1, 11 * us, 16 * us, Compute},
			{1, 12 * us, 13 * us, Receive},
		},
		Arrows: []Arrow{{0, 1, 3 * us, 6 * us, "RTS"}, {1, 0, 9 * us, 10 * us, "CTS"}, {0, 1, 10 * us, 12 * us, "64 KiB"},
			{0, 2, 3 * us, 15 * us, "1 B"}},
	}
}

// largestDiagram is as large as a diagram may be: 64 rows, nearly 1000 messages.
func largestDiagram() *MessageDiagram {
	r := newExampleRun("Two and a half barriers on 64 processes", 64)
	ready := make([]unit.Duration, 64)
	r.barrier(ready)
	for i := range ready {
		ready[i] = r.work(i, ready[i], unit.Duration(2+i%5)*unit.Microsecond, Compute)
	}
	r.barrier(ready)
	for i := range 230 {
		a := r.send(i%64, (i*7+3)%64, ready[i%64], "8 B")
		r.work(a.To, a.Arrive, exampleO, Receive)
	}
	d := r.finish()
	// Sends booked after receives of later messages may lie before them; order does not matter.
	slices.SortStableFunc(d.Spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	return d
}

// finishTimes looks like a noisy dissemination: a floor, a few late ranks and their neighbors.
func finishTimes(ranks int) []unit.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	finish := make([]unit.Duration, ranks)
	for i := range finish {
		wave := 4 * math.Sin(float64(i)/float64(ranks)*9)
		us := 212 + wave + random.ExpFloat64()*2.5
		if random.IntN(500) == 0 {
			us += 12 + 6*random.Float64()
		}
		finish[i] = unit.Duration(us * float64(unit.Microsecond))
	}
	return finish
}

func smallProfile() *FinishProfile {
	return &FinishProfile{Title: "Finish times on 48 ranks", Finish: finishTimes(48)}
}

func largeProfile(ranks int) *FinishProfile {
	return &FinishProfile{
		Title:    "Dissemination barrier with noise",
		Subtitle: "machine altix, 1 B, noise 1000 Hz of 16 µs, seed 1",
		Finish:   finishTimes(ranks),
	}
}

// noisePlot looks like figures 5 to 7: boxes over process counts and the noiseless time.
func noisePlot() *Chart {
	random := rand.New(rand.NewPCG(3, 4))
	var x, quiet []float64
	var boxes [2][]Box
	for k := 1; k <= 20; k++ {
		base := 8 * float64(k)
		for layer := range boxes {
			samples := make([]float64, 300)
			for i := range samples {
				late := base + float64(k)*(1+2*float64(layer))*random.ExpFloat64()
				samples[i] = late * float64(unit.Microsecond)
			}
			b, err := TukeyBox(samples)
			if err != nil {
				panic(err)
			}
			boxes[layer] = append(boxes[layer], b)
		}
		x = append(x, math.Exp2(float64(k)))
		quiet = append(quiet, base*float64(unit.Microsecond))
	}
	return &Chart{
		Title:    "Dissemination under unsynchronized noise",
		Subtitle: "1 B, machine cnl, 300 replicas for each process count",
		Caption:  "Boxes: quartiles and median; whiskers: 1.5 times the interquartile range; points: outliers.",
		X:        Axis{Label: "processes", Scale: Log2},
		Y:        Axis{Label: "completion time", Quantity: Time, FromZero: true},
		Layers: []Layer{
			&Boxes{Name: "100 Hz, 50 µs", X: x, Boxes: boxes[0]},
			&Boxes{Name: "1000 Hz, 100 µs", X: x, Boxes: boxes[1]},
			&Line{Name: "without noise", Slot: Neutral, X: x, Y: quiet},
		},
	}
}

// detours looks like figure 1: a scatter plot on a logarithmic axis.
func detours() *Chart {
	random := rand.New(rand.NewPCG(5, 6))
	points := &Points{Name: "detours"}
	for range 20000 {
		length := 1 + 7*random.Float64()
		if random.IntN(200) == 0 {
			length = 180 + 40*random.Float64()
		}
		points.X = append(points.X, random.Float64()*10*float64(unit.Second))
		points.Y = append(points.Y, length*float64(unit.Microsecond))
	}
	return &Chart{
		Title:  "Detours of one core",
		X:      Axis{Label: "time", Quantity: Time, Min: 0, Max: 10 * float64(unit.Second)},
		Y:      Axis{Label: "detour", Quantity: Time, Scale: Log10},
		Layers: []Layer{points},
	}
}

// curves has six lines, so that all looks but one can be seen, a band, rules and zones.
func curves() *Chart {
	ch := &Chart{
		Title: "Run time over latency",
		X:     Axis{Label: "network latency L", Quantity: Time},
		Y:     Axis{Label: "run time", Quantity: Time},
		Layers: []Layer{&Zone{Name: "within 1 %", Slot: 3, From: 0, To: 13 * 1e6, Vertical: true},
			&Rule{Name: "limit", Slot: Neutral, At: 1.9e9}},
	}
	for k := range 6 {
		l := &Line{Name: fmt.Sprintf("algorithm %c", 'A'+k), Marks: true, Slot: k + 1}
		for i := 0; i <= 50; i += 5 {
			v := float64(i)
			l.X = append(l.X, v*1e6)
			l.Y = append(l.Y, 1e9+float64(k)*8e7+math.Max(0, v-10)*1e7*(1+0.4*float64(k)))
		}
		ch.Layers = append(ch.Layers, l)
	}
	b := &Band{Name: "90 % of the runs of A", Slot: 1}
	for i := 0; i <= 50; i += 5 {
		y := 1e9 + math.Max(0, float64(i)-10)*1e7
		b.X, b.Low, b.High = append(b.X, float64(i)*1e6), append(b.Low, y*0.95), append(b.High, y*1.04)
	}
	ch.Layers = append([]Layer{b}, ch.Layers...)
	return ch
}

// bandwidths has bars and sizes in powers of two.
func bandwidths() *Chart {
	bars := &Bars{Name: "messages", Edges: []float64{1}}
	steps := &Steps{Name: "bytes, cumulated"}
	sum := 0.0
	for k := range 22 {
		h := 100 * math.Exp(-math.Pow(float64(k-11)/5, 2))
		sum += h / 8
		bars.Edges = append(bars.Edges, math.Exp2(float64(k+1)))
		bars.Height = append(bars.Height, h)
		steps.Y = append(steps.Y, sum)
	}
	steps.Edges = bars.Edges
	return &Chart{
		Title:  "Message sizes",
		X:      Axis{Label: "message size", Scale: Log2, Quantity: Bytes},
		Y:      Axis{Label: "share", Quantity: Percent},
		Layers: []Layer{bars, steps},
	}
}

// latencies is like figure 9 of the latency paper: a runtime with zones, and what becomes of its slope.
func latencies() *Stack {
	us := float64(unit.Microsecond)
	edges := []float64{0, 20 * us, 45 * us, 100 * us}
	zones := func(named bool) []Layer {
		var layers []Layer
		from := 0.0
		for i, to := range []float64{15 * us, 30 * us, 60 * us} {
			z := &Zone{From: from, To: to, Vertical: true, Slot: []int{3, 4, 2}[i]}
			if named {
				z.Name = []string{"1 %", "2 %", "5 %"}[i]
			}
			layers, from = append(layers, z), to
		}
		return layers
	}
	return &Stack{
		Title: "Runtime over latency", Subtitle: "a made-up program", Caption: "Zones: the runtime grows by up to 1, 2 and 5 %.",
		X: Axis{Label: "latency", Quantity: Time},
		Parts: []StackPart{
			{Y: Axis{Label: "runtime", Quantity: Time}, Weight: 1.4,
				Layers: append(zones(true), &Line{Name: "T", Slot: 1, X: edges, Y: []float64{900 * us, 910 * us, 960 * us, 1400 * us}})},
			{Y: Axis{Label: "slope", Whole: true, FromZero: true},
				Layers: append(zones(false), &Steps{Name: "slope", Slot: 5, Edges: edges, Y: []float64{1, 2, 8}})},
			{Y: Axis{Label: "share", Quantity: Percent, FromZero: true}, Weight: 0.7,
				Layers: append(zones(false), &Line{Name: "share of latency", Slot: 6, X: edges, Y: []float64{0, 3, 9, 57}})},
		},
	}
}

// exampleFigures are all of them, by the name of their golden file.
func exampleFigures() map[string]Figure {
	return map[string]Figure{
		"broadcast":  binomialBroadcast(15),
		"barriers":   twoBarriers(8, 4),
		"rendezvous": rendezvous(),
		"profile":    smallProfile(),
		"boxes":      noisePlot(),
		"curves":     curves(),
		"bars":       bandwidths(),
		"stack":      latencies(),
		"heatmap":    heatExample(),
	}
}

// largeFigures are those whose files are too large to be kept.
func largeFigures() map[string]Figure {
	return map[string]Figure{
		"large":   largestDiagram(),
		"million": largeProfile(1 << 20),
		"detours": detours(),
	}
}
