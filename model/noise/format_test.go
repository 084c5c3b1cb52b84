package noise

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/internal/source"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// trace reads a file that holds one trace.
func trace(t testing.TB, path string) *Trace {
	t.Helper()
	p, err := LoadFrom(source.Disk, path)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Parts) != 1 || p.Parts[0].Trace == nil {
		t.Fatalf("%s holds no trace", path)
	}
	return p.Parts[0].Trace
}

func TestSniff(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/two.txt":             "text",
		"testdata/netgauge.txt":        "netgauge",
		"testdata/osnoise-events.txt":  "linux",
		"testdata/osnoise-summary.txt": "linux",
		"testdata/timerlat.txt":        "linux",
		"profiles/chic.yaml":           "yaml",
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := sniff(data).Name; got != want {
			t.Errorf("Sniff(%s) = %v, want %v", path, got, want)
		}
	}
	for content, want := range map[string]string{
		"":                           "yaml",
		"# only a comment\n":         "text",
		"# period_ns 5\n":            "text",
		"1 2\n":                      "text",
		"-1 2\n":                     "text",
		"\n# c\nname: x\n":           "yaml",
		"- a\n":                      "yaml",
		"---\nname: x\n":             "yaml",
		"cpus=2\n a-1 [001] 5.1: x:": "linux",
		"SLKNOISE":                   "binary",
	} {
		if got := sniff([]byte(content)).Name; got != want {
			t.Errorf("Sniff(%q) = %v, want %v", content, got, want)
		}
	}
}

// TestFormats walks the table: each entry can be listed, recognized, and read or written.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Info == "" || f.Sniff == nil || f.Read == nil || f.Write != nil && len(f.Suffixes) == 0 {
			t.Errorf("%s: the entry is not complete: %+v", f.Name, f)
		}
		for _, key := range append([]string{f.Name, f.Info}, f.Suffixes...) {
			if seen[key] {
				t.Errorf("%s: %q is in the table twice", f.Name, key)
			}
			seen[key] = true
		}
		if got, ok := FormatNamed(f.Name); !ok || got.Name != f.Name {
			t.Errorf("FormatNamed(%s) = %s, %v", f.Name, got.Name, ok)
		}
		if f.Write == nil {
			continue
		}
		p, err := Parse("1kHz:10us")
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Detours(0)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, p, d); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if got := sniff(b.Bytes()).Name; got != f.Name {
			t.Errorf("what %s writes is taken for %s", f.Name, got)
		}
		if _, err := Read("x", b.Bytes()); err != nil {
			t.Errorf("what %s writes cannot be read: %v", f.Name, err)
		}
	}
}

func TestReadText(t *testing.T) {
	got := trace(t, "testdata/two.txt")
	// Halves are rounded up to whole nanoseconds.
	want := &Trace{Period: 100_000_000, List: []Detour{{1_000_000, 250_000}, {40_001_000, 1_300_000}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Without a header the last line is the period and no detour.
	p, err := Read("x", []byte("5 2\r\n\n# comment\n7.5\t3\n100 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	want = &Trace{Period: 100_000, List: []Detour{{5000, 2000}, {8000, 3000}}}
	if diff := cmp.Diff(want, p.Parts[0].Trace); diff != "" {
		t.Error(diff)
	}
	p, err = Read("x", []byte("# period_ns 1000\n"))
	if err != nil || len(p.Parts[0].Trace.List) != 0 {
		t.Errorf("a trace without detours: %v, %v", p, err)
	}
}

func TestReadErrors(t *testing.T) {
	for content, want := range map[string]string{
		"# nothing\n":                            "no detours and no period",
		"# period_ns 100\n5 2\n4 2\n":            "f:3: the detour starts before the one before it",
		"# period_ns 100\n5 2\n5 -2\n":           "f:3: duration",
		"# period_ns 100\n-5 2\n":                "f:2: start",
		"# period_ns 100\n5\n":                   "f:2: \"5\" is not",
		"# period_ns 100\n5 2 3\n":               "f:2:",
		"# period_ns 100\n5 1e3\n":               "f:2: duration",
		"# period_ns 100\n5 99999999999999999\n": "f:2: duration",
		"# period_ns 100\n100 2\n":               "f:2: the detour starts at 100 ns, outside the period",
		"# period_ns 100\n10 100\n":              "f:2: the detour has 100 ns, as long as the period",
		"# period_ns 100\n0 50\n50 50\n":         "no work would ever end",
		"# period_ns 0\n":                        "f:1: the period",
		"# period_ns x\n":                        "f:1: the period",
		"# period_ns 5\n# period_ns 6\n":         "f:2: gives the period again",
		"0 5\n":                                  "must be above 0",
		"5 2\n3 2\n":                             "f:1: the detour starts at 5 ns, outside",

		"# Fixed Work Quantum Benchmark\n1 2\n":                                  "f:1: is output of a benchmark that records no detours",
		"# Selfish Benchmark\n# Time [ns]\tselfish duration [ns]\n":              "holds no detour",
		"# Selfish Benchmark\n# Time [cycles]\tselfish duration [cycles]\n1 2\n": "f:2: the unit \"cycles\"",
		"# Selfish Benchmark\n# Time [ns]\tx [ns]\n5.00 2.00\n":                  "single detour",
		"# Selfish Benchmark\n# Time [ns]\tx [ns]\n5.00 2.00\n4 2\n":             "f:4: the detour starts before",
		"# Selfish Benchmark\n# Time [ns]\tx [ns]\n5.00 2.00\n7 x\n":             "f:4:",
		"# Selfish Benchmark\n# Time [ns]\tx [ns]\n0 5\n5 2\n":                   "no work would ever end",

		"# tracer: osnoise\n": "holds no event",
		"# tracer: osnoise\n a-1 [001] d. 5.1: irq_noise: x:3 start 5 duration 7\n":  "f:2: event irq_noise",
		"# tracer: osnoise\n a-1 [001] d. 5.1: irq_noise: x:3 start 5 duration 7 ns": "single detour",
		"# tracer: osnoise\n a-1 [001] d. 5.1: 1000 2000 3.0 4 1 1 1 1 1\n":          "f:2: a sample",
		"# tracer: osnoise\n a-1 [001] d. 5.1: 1000 x 3.0 4 1 1 1 1 1\n":             "f:2: column 2",
		"# tracer: timerlat\n a-1 [001] d. 5.1: #1 context irq timer_latency x ns\n": "f:2: timer latency",

		"":                        "is empty",
		"name: x\nnaem: y\n":      "f:2: unknown key \"naem\" in the profile; did you mean name?",
		"name: x\nname: y\n":      "f:2: key name is given twice",
		"name: [x]\n":             "f:1: name must be one value",
		"name:\n":                 "f:1: key name has no value",
		"parts: 5\n":              "f:1: parts must be a list",
		"parts:\n  - rate: 5Hz\n": "f:2: a part needs rate and length",
		"parts:\n  - rate: 5Xz\n": "f:2: rate \"5Xz\"",
		"parts:\n  - x: 5\n":      "f:2: unknown key",
		"parts:\n  - 5\n":         "f:2: a part must be keys",
		"parts:\n  - rate: 5Hz\n    length: 1s\n":       "f:2: a detour of 1s every 200ms",
		"parts:\n  - rate: 5Hz\n    length: [1us, 2]\n": "f:3:",
		"parts:\n  - rate: 5Hz\n    length: []\n":       "f:3: the list of lengths is empty",
		"parts:\n  - rate: 5Hz\n    length: 1us\n    arrivals: poison\n": "f:4: " +
			"arrivals \"poison\" is unknown; did you mean poisson?",
		"parts:\n  - rate: 5Hz\n    length: 1us\n    trace: x\n":                       "no such file",
		"parts:\n  - rate: 5Hz\n    length: 150ms\n  - rate: 5Hz\n    length: 150ms\n": "no work would ever end",
		"name: &a x\n":              "f:1: anchors",
		"name: x\n---\nname: y\n":   "f:3: a second YAML document",
		"name: \"x\n":               "f:1:",
		"name: \xff\n":              "not UTF-8",
		"[[[[[[[[[[[[[[[[]]]]]]]]]": "f:1: lists are nested",
		"hello":                     "f:1: the profile must be keys",
	} {
		p, err := Read("f", []byte(content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) = %v, %v; want an error with %q", content, p, err, want)
		}
	}
}

func TestReadNetgauge(t *testing.T) {
	p, err := LoadFrom(source.Disk, "testdata/netgauge.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := &Trace{
		Period: (3_000_020 + 1801 + 20) * 1000,
		List:   []Detour{{0, 1_843_000}, {1_000_021_000, 1_791_000}, {2_000_020_000, 12_033_000}, {3_000_020_000, 1_801_000}},
	}
	if diff := cmp.Diff(want, p.Parts[0].Trace); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(p.Note, "node017") || !strings.Contains(p.Note, "netgauge.txt") {
		t.Errorf("note = %q", p.Note)
	}
	us, err := Read("f", []byte("# Selfish Benchmark\n# Time [us]\tselfish duration [ns]\n1.00\t2.49\n2.0005\t3.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	want = &Trace{Period: 1_005_000, List: []Detour{{0, 2000}, {1_001_000, 4000}}}
	if diff := cmp.Diff(want, us.Parts[0].Trace); diff != "" {
		t.Error(diff)
	}
}

// statsOf reads a profile and what is known of its detours.
func statsOf(t *testing.T, file string) (*Profile, Statistics) {
	t.Helper()
	p, err := LoadFrom(source.Disk, file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Detours(1)
	if err != nil {
		t.Fatal(err)
	}
	return p, Stats(d)
}

// Nested events of the kernel are net; the trace holds their sum, each for its own source.
func TestReadOsnoiseEvents(t *testing.T) {
	p, s := statsOf(t, "testdata/osnoise-events.txt")
	got := map[string]int64{}
	for _, source := range s.Sources {
		got[source.Label] = int64(source.Noise) / 1000
	}
	want := map[string]int64{
		"irq local_timer": 2000 + 3000, // the second one came while the thread ran
		"softirq SCHED":   1500,
		"thread kworker":  40000,
		"entry and exit":  45000 - 43000,
		"hardware":        7000,
		"nmi":             900,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.Count != 5 || s.Noise != (3500+45000+7000+900)*1000 {
		t.Errorf("%d intervals with %v; want 5 with 56.4us", s.Count, s.Noise)
	}
	if !strings.Contains(p.Note, "lost") || !strings.Contains(p.Note, "CPUs: 2") {
		t.Errorf("note = %q", p.Note)
	}
}

func TestReadOsnoiseSummary(t *testing.T) {
	_, s := statsOf(t, "testdata/osnoise-summary.txt")
	if s.Period != 3e12 || s.Noise != (190+656)*1e6 || s.Max != 74e6 {
		t.Errorf("period %v, noise %v, longest %v; want 3s, 846us, 74us", s.Period, s.Noise, s.Max)
	}
	if s.Count != 18+1007+18+1+23+1006+16+3 {
		t.Errorf("%d detours, want as many as interferences", s.Count)
	}
}

func TestReadTimerlat(t *testing.T) {
	got := trace(t, "testdata/timerlat.txt")
	d, err := NewLabeled(got.Period, got.List, got.Of, got.Labels)
	if err != nil {
		t.Fatal(err)
	}
	s := Stats(d)
	if want := []string{"timer interrupt", "timer thread"}; !slices.Equal(got.Labels, want) {
		t.Fatalf("labels = %v, want %v", got.Labels, want)
	}
	if irq := s.Sources[0].Noise; irq != (932+2833+769+935+801)*1000 {
		t.Errorf("noise of the interrupt = %v", irq)
	}
	if s.Noise != (11700+9820+3070+4351+801)*1000 {
		t.Errorf("noise = %v", s.Noise)
	}
}

// A trace that is written is read as the same, in the text format to the nanosecond.
func TestTraceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period, list := drawDetours(t)
		labels := rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "labels")
		of := make([]int32, len(list))
		for i := range of {
			of[i] = rapid.Int32Range(0, int32(len(labels)-1)).Draw(t, "of")
		}
		d, err := NewLabeled(period, list, of, labels)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteBinary(&b, d, "a name", "a note"); err != nil {
			t.Fatal(err)
		}
		p, err := Read("f", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Detours(0)
		if err != nil {
			t.Fatal(err)
		}
		if again.period != d.period || !slices.Equal(again.list, d.list) || p.Name != "a name" || p.Note != "a note" ||
			!slices.Equal(again.labels, d.labels) {
			t.Fatalf("got %d %v %q, want %d %v", again.period, again.list, p.Name, d.period, d.list)
		}
		for i := range d.list {
			_, a := d.At(i)
			if _, b := again.At(i); a != b {
				t.Fatalf("label of detour %d = %d, want %d", i, b, a)
			}
		}
		if period%1000 != 0 {
			return
		}
		whole := slices.Clone(d.list)
		for i := range whole {
			whole[i] = Detour{whole[i].Start / 1000 * 1000, whole[i].Length / 1000 * 1000}
		}
		if d, err = NewDetours(period, whole); err != nil {
			return // rounding closed the last gap
		}
		b.Reset()
		if WriteText(&b, d) != nil {
			return // too short a period
		}
		if p, err = Read("f", b.Bytes()); err != nil {
			t.Fatalf("%v in %q", err, b.String())
		}
		if got := p.Parts[0].Trace; got.Period != d.period || !slices.Equal(got.List, d.list) {
			t.Fatalf("got %v, want %v", got, d.list)
		}
	})
}

func TestBinaryDamage(t *testing.T) {
	d, err := NewDetours(1e9, []Detour{{5, 10}, {100, 20}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteBinary(&b, d, "n", ""); err != nil {
		t.Fatal(err)
	}
	for i := range b.Len() {
		if _, err := Read("f", b.Bytes()[:i]); err == nil {
			t.Errorf("a file cut at %d was read", i)
		}
		if i < 10 {
			continue // magic and version
		}
		broken := bytes.Clone(b.Bytes())
		broken[i] ^= 0x40
		if _, err := Read("f", broken); err == nil && i != 10 && i != 11 {
			t.Errorf("a file with a wrong byte %d was read", i)
		}
	}
	newer := bytes.Clone(b.Bytes())
	newer[8] = 9
	if _, err := Read("f", newer); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer file = %v, want ErrNewer", err)
	}
}

func TestYAMLTraceFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("t.txt", "# period_ns 1000\n5 7\n")
	path := write("p.yaml", "parts:\n  - trace: t.txt\n    label: recorded\n  - rate: 1MHz\n    length: 1ns\n    phase: 500ns\n")
	p, err := LoadFrom(source.Disk, path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Detours(1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Period() != 1e6 || p.Name != "p" || !slices.Equal(d.list, []Detour{{5000, 7000}, {500_000, 1000}}) || d.Labels()[0] != "recorded" {
		t.Errorf("%s: %d, %v, %v", p.Name, d.Period(), d.list, d.Labels())
	}
	self := write("self.yaml", "parts:\n  - trace: self.yaml\n")
	if _, err := LoadFrom(source.Disk, self); err == nil || !strings.Contains(err.Error(), "is a profile") {
		t.Errorf("a profile as the trace of itself = %v, want an error", err)
	}
}

// FuzzRead: whatever a file holds, Read ends with a profile that can be used, or an error.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	yamls, _ := filepath.Glob("profiles/*.yaml")
	for _, path := range append(paths, yamls...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	d, _ := NewLabeled(1e9, []Detour{{5, 10}, {100, 20}}, []int32{0, 1}, []string{"a", "b"})
	var b bytes.Buffer
	if err := WriteBinary(&b, d, "n", "note"); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("5 2\n7 3\n100 9\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("trace")) && sniff(data).Name == "yaml" {
			return // would read files
		}
		p, err := Read("f", data)
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Fatalf("Read gave a profile that is wrong: %v", err)
		}
		for i := range p.Parts {
			if p.Parts[i].Kind != KindTrace {
				return
			}
		}
		if d, err := p.Detours(1); err == nil {
			var hint int32
			if in, err := NewInjection(d, nil); err != nil || in.Finish(0, 0, 1, &hint) < 1 {
				t.Fatalf("the trace cannot be used: %v", err)
			}
		}
	})
}

// FuzzParse: a specification that is read is printed as one that is read as the same.
func FuzzParse(f *testing.F) {
	for _, spec := range []string{"1000Hz:100us", "0.14Hz:10ms,jitter=20%",
		"poisson:0.5Hz:pareto:1us:1.5:8us+1ms:list:1us:2us", "3GHz:uniform:0:5ps"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := Parse(spec)
		if err != nil {
			return
		}
		again, err := Parse(p.Spec())
		if err != nil {
			t.Fatalf("Parse(%q), from %q: %v", p.Spec(), spec, err)
		}
		if again.Spec() != p.Spec() {
			t.Fatalf("Parse(%q) = %q", p.Spec(), again.Spec())
		}
	})
}

// A damaged line is an error with its place, in every text format.
func TestDamagedLines(t *testing.T) {
	const nmi = "       osnoise/2-1401  [002] d....   120.004010: nmi_noise: start 120.004000000 duration 900 ns"
	for _, tc := range []struct{ file, from, to, want string }{
		{"netgauge.txt", "2000019.91\t12033.08", "200x019.91\t12033.08", ":15:"},
		{"netgauge.txt", "2000019.91\t12033.08", "x2000019.91\t12033.08", ":15:"},
		{"netgauge.txt", "2000019.91\t12033.08", "garbage", ":15:"},
		{"netgauge.txt", "2000019.91\t12033.08", "2000019.91", ":15:"},
		{"netgauge.txt", "3000020.44\t1801.49", "o3000020.44\t1801.49", ":16:"},
		{"netgauge.txt", "# Time [ns]\tselfish", "# Tme [ns]\tselfish", "units of the columns"},
		{"netgauge.txt", "length [ns]: 20.400000", "length [ns]: 2x", ":8:"},
		{"osnoise-events.txt", "duration", "duraton", "osnoise-events.txt:"},
		{"osnoise-events.txt", "irq_noise:", "irq_nois:", "osnoise-events.txt:"},
		{"timerlat.txt", "timer_latency", "timer_latncy", "timerlat.txt:4:"},
		{"timerlat.txt", "54.029328:", "54.0x9328:", "timerlat.txt:4:"},
		{"timerlat.txt", "[001]", "[0o1]", "timerlat.txt:6:"},
		{"osnoise-summary.txt", "1000000", "1o00000", "osnoise-summary.txt:"},
		{"timerlat.txt", "context", "contxt", "timerlat.txt:"},
		{"timerlat.txt", "context thread", "context thraed", `timerlat.txt:5: the context of a timer latency is "thraed"`},
		{"timerlat.txt", "54.029339:", "54.029327:", "timerlat.txt:5: is at 54029327000 ns, but the line before it of CPU 0 at 54029328000"},
		{"osnoise-events.txt", nmi, nmi + "\n" + nmi, "is there twice"},
	} {
		data, err := os.ReadFile("testdata/" + tc.file)
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Replace(string(data), tc.from, tc.to, 1)
		if bad == string(data) {
			t.Fatalf("%s does not hold %q", tc.file, tc.from)
		}
		if _, err := Read(tc.file, []byte(bad)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s with %q: error %v, want %q", tc.file, tc.to, err, tc.want)
		}
	}
}

// What a text cannot hold, and what is missing of a trace that numbers its lines, is noticed.
func TestDamagedNoise(t *testing.T) {
	data, err := os.ReadFile("testdata/timerlat.txt")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Read("x", data); err != nil || strings.Contains(p.Note, "missing") {
		t.Fatalf("the whole trace: %v, %v", p, err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for _, lost := range []int{3, 7} { // interrupts: #1 and #2 of CPU 0
		p, err := Read("x", []byte(strings.Join(slices.Delete(slices.Clone(lines), lost, lost+1), "")))
		if err != nil || !strings.Contains(p.Note, "Activations of timers that are missing, or lack their interrupt: 1.") {
			t.Errorf("without line %d: %+v, %v", lost+1, p, err)
		}
	}
	data[len(data)-20] = 0
	var bad *FileError
	if _, err := Read("x", data); !errors.As(err, &bad) || bad.Line != len(lines)-1 {
		t.Errorf("a byte 0: %v", err)
	}
}
