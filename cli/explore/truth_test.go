package explore_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/model/unit"
	"slackline/show/explore"
)

// get asks the server, until an analysis that the answer needs has ended.
func (e *exploring) get(question string, answer any) {
	e.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := http.NewRequest("GET", e.base+"/api/"+question, nil)
		if err != nil {
			e.t.Fatal(err)
		}
		r.Header.Set(explore.TokenHeader, e.token)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			e.t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			err = json.NewDecoder(response.Body).Decode(answer)
		} else if response.StatusCode != http.StatusServiceUnavailable {
			e.t.Fatalf("%s: %s", question, response.Status)
		}
		response.Body.Close()
		if err != nil {
			e.t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			return
		}
	}
	e.t.Fatalf("%s is never ready", question)
}

// values are numbers by name: times in picoseconds, all others as they are.
type values map[string]float64

func (v values) time(seconds float64, key ...any) {
	v[fmt.Sprint(key...)] += math.Round(seconds * 1e12)
}
func (v values) add(x float64, key ...any) { v[fmt.Sprint(key...)] += x }

// profiled is what the tests read of the JSON of profile.
type profiled struct {
	Run struct {
		Time float64 `json:"time_s"`
	}
	Composition []struct {
		Kind, Name string
		Seconds    float64
	}
	Efficiency struct {
		Parallel      float64 `json:"parallel_efficiency"`
		LoadBalance   float64 `json:"load_balance"`
		Communication float64 `json:"communication_efficiency"`
		Serialization float64 `json:"serialisation_efficiency"`
		Transfer      float64 `json:"transfer_efficiency"`
		NotAnalyzed   float64 `json:"not_analyzed_factor"`
	}
	CallPaths []struct {
		CallPath  string
		Visits    *float64
		Exclusive float64 `json:"exclusive_s"`
		Inclusive float64 `json:"inclusive_s"`
	}
	Activities []struct { // of streams
		CallPath string
		Count    float64
		Seconds  float64
	}
	Devices []struct {
		Rank, Device int
		Span         float64 `json:"span_s"`
		Computing    float64 `json:"computing_s"`
		Exposed      float64 `json:"exposed_s"`
		Waiting      float64 `json:"waiting_s"`
		Idle         float64 `json:"idle_s"`
		Latency      float64 `json:"latency_s"`
		Overlap      float64 `json:"overlap_s"`
		Hidden       float64 `json:"hidden_s"`
		Kernels      float64
	}
	Messages []struct {
		From, To int
		Count    float64 `json:"messages"`
		Bytes    float64
	}
	Sizes []struct {
		From  float64 `json:"from_bytes"`
		Count float64 `json:"messages"`
		Bytes float64
	} `json:"message_sizes"`
	Iterations struct {
		List []struct {
			Duration float64 `json:"duration_s"`
			Waiting  float64 `json:"waiting_s"`
		}
	}
}

// waited is what the tests read of the JSON of waits.
type waited struct {
	Waits []struct {
		Metric, CallPath string
		PartOf           string `json:"part_of"`
		Rank             int
		Seconds          float64
	}
	Delays []struct {
		Rank     int
		CallPath string
		Short    float64 `json:"short_s"`
		Long     float64 `json:"long_s"`
	}
	Totals struct {
		Waiting  float64            `json:"waiting_s"`
		ByMetric map[string]float64 `json:"by_metric"`
	}
}

// ask runs a verb that prints JSON.
func ask(t *testing.T, into any, args ...string) {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append(args, "--format", "json")...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), into); err != nil {
		t.Fatal(err)
	}
}

// same compares values; what one side does not have is 0 there. It returns how many were compared.
func same(t *testing.T, what string, got, want values) int {
	t.Helper()
	for key := range got {
		if _, ok := want[key]; !ok {
			want[key] = 0
		}
	}
	for key, w := range want {
		if math.Abs(got[key]-w) > 1e-9*math.Abs(w) {
			t.Errorf("%s: %s = %v, want %v", what, key, got[key], w)
		}
	}
	return len(want)
}

// TestOneTruth compares what the explorer and the report say with the JSON of profile and waits, selected ranges and streams of
// accelerators included.
func TestOneTruth(t *testing.T) {
	recorded := []string{
		"../../examples/late/late.slt", "../../examples/waits/seaice.slt",
		"../../testdata/waits/cases/09-wavefront-4x4/traces.otf2", "../../testdata/waits2/cases/28-chain/trace.txt",
		"../../testdata/accelerator/cases/10-mpi-cuda/traces.otf2", "../../testdata/accelerator/cases/02-long-kernel/traces.otf2",
	}
	compared := 0
	e := startExplore(t, recorded...)
	for i, word := range recorded {
		compared += compareRun(t, e, i, word)
	}
	simulated := []string{"halo2d", "--ranks", "16", "--machine", "chic", "--jitter", "0.3", "--iterations", "4"}
	e = startExplore(t, simulated...)
	compared += compareRun(t, e, 0, simulated...)
	if compared < 1000 {
		t.Errorf("%d values were compared, want at least 1000", compared)
	}
	t.Logf("%d values", compared)
}

// compareRun compares one run and returns how many values were compared.
func compareRun(t *testing.T, e *exploring, index int, words ...string) int {
	t.Helper()
	var p profiled
	var w waited
	ask(t, &p, append([]string{"profile"}, words...)...)
	ask(t, &w, append([]string{"waits"}, words...)...)
	run := e.runs("")[index]
	name := run.Name
	path := e.paths(index)
	got, want := values{}, values{}

	var c explore.Composition
	e.get(fmt.Sprintf("composition?run=%d", index), &c)
	want.time(p.Run.Time, "run time")
	got.add(float64(run.Length), "run time")
	for _, x := range p.Composition {
		want.time(x.Seconds, "part ", x.Kind, x.Name)
	}
	for _, x := range c.Parts {
		got.add(float64(x.Time), "part ", x.Kind, x.Name)
	}
	for key, pair := range map[string][2]float64{
		"parallel": {c.Efficiency.Parallel, p.Efficiency.Parallel}, "balance": {c.Efficiency.LoadBalance, p.Efficiency.LoadBalance},
		"communication": {c.Efficiency.Communication, p.Efficiency.Communication},
		"serialization": {c.Efficiency.Serialisation, p.Efficiency.Serialization},
		"transfer":      {c.Efficiency.Transfer, p.Efficiency.Transfer},
		"not analyzed":  {c.Efficiency.NotAnalyzed, p.Efficiency.NotAnalyzed},
	} {
		got[key], want[key] = pair[0], pair[1]
	}
	for _, x := range p.Devices {
		key := fmt.Sprintf(" of device %d of rank %d", x.Device, x.Rank)
		for name, s := range map[string]float64{"span": x.Span, "computing": x.Computing, "exposed": x.Exposed, "waiting": x.Waiting,
			"idle": x.Idle, "latency": x.Latency, "overlap": x.Overlap, "hidden": x.Hidden} {
			want.time(s, name, key)
		}
		want.add(x.Kernels, "kernels", key)
	}
	for _, x := range c.Devices {
		key := fmt.Sprintf(" of device %d of rank %d", x.Device, x.Rank)
		for name, ps := range map[string]int64{"span": x.Span, "computing": x.Computing, "exposed": x.Exposed, "waiting": x.Waiting,
			"idle": x.Idle, "latency": x.Latency, "overlap": x.Overlap, "hidden": x.Hidden, "kernels": x.Kernels} {
			got.add(float64(ps), name, key)
		}
	}
	var tree explore.Tree
	e.get(fmt.Sprintf("tree?run=%d", index), &tree)
	for _, n := range tree.Nodes[1:] {
		got.add(float64(n.Exclusive[0]), "exclusive ", path[n.Path])
		got.add(float64(n.Inclusive[0]), "inclusive ", path[n.Path])
	}
	for _, x := range p.CallPaths {
		want.time(x.Exclusive, "exclusive ", x.CallPath)
		want.time(x.Inclusive, "inclusive ", x.CallPath)
	}
	var matrix explore.Matrix
	e.get(fmt.Sprintf("matrix?run=%d&size=512", index), &matrix)
	for k := range matrix.From {
		got.add(float64(matrix.Count[k]), "messages ", matrix.From[k], " ", matrix.To[k])
		got.add(float64(matrix.Bytes[k]), "bytes ", matrix.From[k], " ", matrix.To[k])
	}
	for _, x := range p.Messages {
		want.add(x.Count, "messages ", x.From, " ", x.To)
		want.add(x.Bytes, "bytes ", x.From, " ", x.To)
	}
	var it explore.Iterations
	e.get(fmt.Sprintf("iterations?run=%d", index), &it)
	for k, x := range it.List {
		got.add(float64(x.Duration), "iteration ", k)
		got.add(float64(x.Waiting), "waiting of iteration ", k)
	}
	for k, x := range p.Iterations.List {
		want.time(x.Duration, "iteration ", k)
		want.time(x.Waiting, "waiting of iteration ", k)
	}
	e.waitValues(index, path, &w, got, want)
	n := same(t, name, got, want)
	n += e.selections(t, index, path, &p, &w, words)
	return n + e.reported(t, index, &c, words)
}

// paths are the names of call paths by number.
func (e *exploring) paths(index int) map[int]string {
	var legend explore.Legend
	e.get(fmt.Sprintf("legend?run=%d&color=path", index), &legend)
	names := map[int]string{}
	for _, c := range legend.Categories {
		names[c.ID] = c.Name
	}
	return names
}

// waitValues collects wait states, by rank too, and what caused them.
func (e *exploring) waitValues(index int, path map[int]string, w *waited, got, want values) {
	var a explore.Waits
	e.get(fmt.Sprintf("waits?run=%d&limit=20000", index), &a)
	got.add(float64(a.Waiting), "waiting")
	want.time(w.Totals.Waiting, "waiting")
	for _, m := range a.Metrics {
		got.add(float64(m.Amount), "metric ", m.Metric)
	}
	for m, s := range w.Totals.ByMetric {
		want.time(s, "metric ", m)
	}
	for _, c := range a.Causes {
		got.add(float64(c.Short), "short ", c.Rank, path[c.Path])
		got.add(float64(c.Long), "long ", c.Rank, path[c.Path])
	}
	for _, d := range w.Delays {
		want.time(d.Short, "short ", d.Rank, d.CallPath)
		want.time(d.Long, "long ", d.Rank, d.CallPath)
	}
	var byRank explore.Distribution
	e.get(fmt.Sprintf("distribution?run=%d&path=0&metric=waiting", index), &byRank)
	for rank, x := range byRank.Values {
		got.add(float64(x), "waiting of rank ", rank)
	}
	for _, x := range w.Waits {
		if x.PartOf == "" {
			want.time(x.Seconds, "waiting of rank ", x.Rank)
		}
	}
}

// selections compares the statistics of the whole run, and those of a part of it with profile --begin --end.
func (e *exploring) selections(t *testing.T, index int, path map[int]string, p *profiled, w *waited, words []string) int {
	t.Helper()
	run := e.runs("")[index]
	var all explore.Selection
	e.get(fmt.Sprintf("selection?run=%d", index), &all)
	got, want := values{}, values{}
	for _, f := range all.Functions {
		got.add(float64(f.Time), "time ", path[f.Path])
		got.add(float64(f.Visits), "visits ", path[f.Path])
	}
	for _, x := range p.CallPaths {
		want.time(x.Exclusive, "time ", x.CallPath)
		if key := "visits " + x.CallPath; x.Visits != nil {
			want.add(*x.Visits, key)
		} else {
			delete(got, key)
		}
	}
	for _, x := range p.Activities {
		want.time(x.Seconds, "time ", x.CallPath)
		want.add(x.Count, "visits ", x.CallPath)
	}
	for _, m := range all.Waits {
		got.add(float64(m.Amount), "metric ", m.Metric)
	}
	parts := map[string]bool{}
	for _, x := range w.Waits {
		parts[x.Metric] = parts[x.Metric] || x.PartOf != ""
	}
	for m, s := range w.Totals.ByMetric {
		if !parts[m] {
			want.time(s, "metric ", m)
		}
	}
	for _, b := range all.Sizes {
		got.add(float64(b.Count), "messages of ", float64(b.From))
		got.add(float64(b.Sum), "bytes of ", float64(b.From))
	}
	for _, b := range p.Sizes {
		want.add(b.Count, "messages of ", b.From)
		want.add(b.Bytes, "bytes of ", b.From)
	}
	n := same(t, run.Name+", all selected", got, want)

	from, to := run.Length*3/10/1000*1000, run.Length*7/10/1000*1000
	var some explore.Selection
	e.get(fmt.Sprintf("selection?run=%d&from=%d&to=%d", index, from, to), &some)
	var part profiled
	begin := func(at int64) string { return unit.Duration(run.Before + at).String() }
	ask(t, &part, append([]string{"profile", "--begin", begin(from), "--end", begin(to)}, words...)...)
	got, want = values{}, values{}
	for _, f := range some.Functions {
		got.add(float64(f.Time), "time ", path[f.Path])
	}
	for _, x := range part.CallPaths {
		want.time(x.Exclusive, "time ", x.CallPath)
	}
	for _, x := range part.Activities {
		want.time(x.Seconds, "time ", x.CallPath)
	}
	got.add(float64(some.To-some.From), "length")
	want.time(part.Run.Time, "length")
	return n + same(t, fmt.Sprintf("%s, from %d to %d", run.Name, from, to), got, want)
}

// reported compares the composition and the efficiencies of the report.
func (e *exploring) reported(t *testing.T, index int, c *explore.Composition, words []string) int {
	t.Helper()
	var document struct {
		Sections []struct {
			ID      string
			Content []struct {
				Meters []struct {
					Name  string
					Value float64
				}
				Shares *struct {
					Parts []struct {
						Name, Text string
						Share      float64
					}
				}
			}
		}
	}
	ask(t, &document, append([]string{"report", "--scale-to", "4", "--replicas", "1"}, words...)...)
	got, want := values{}, values{}
	texts := map[string]string{}
	for _, part := range c.Parts {
		if part.Time > 0 {
			want.add(float64(part.Time)/float64(c.Total), "share of ", part.Title)
			texts[part.Title] = unit.Duration(part.Time).Short()
		}
	}
	want["Parallel efficiency"], want["Load balance"] = c.Efficiency.Parallel, c.Efficiency.LoadBalance
	for _, s := range document.Sections {
		for _, b := range s.Content {
			if b.Shares != nil && s.ID == "time" {
				for _, x := range b.Shares.Parts {
					got.add(x.Share, "share of ", x.Name)
					if x.Text != texts[x.Name] {
						t.Errorf("the report says %s: %s, want %s", x.Name, x.Text, texts[x.Name])
					}
				}
			}
			for _, m := range b.Meters {
				if _, ok := want[m.Name]; ok {
					got[m.Name] = m.Value
				}
			}
		}
	}
	return same(t, "report of "+words[0], got, want)
}
