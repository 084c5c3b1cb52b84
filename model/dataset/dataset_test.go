package dataset_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// text is a dataset as lines: the parameters, then each series with its unit and points.
func text(d *dataset.Dataset) string {
	lines := []string{strings.Join(d.Parameters, " ")}
	for _, s := range d.Series {
		line := s.CallPath + " " + s.Metric
		if s.Unit != "" {
			line += " [" + s.Unit + "]"
		}
		for _, p := range s.Points {
			line += fmt.Sprintf(" %v=%v", p.At, p.Values)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// reading is an input and what must be read from it. Of an input that must be rejected, want is how the error starts: the
// name of the file, and the line where one is known.
type reading struct {
	name, input, want string
	warnings          int
	bad               bool
}

// checkReading reads each input in the given format.
func checkReading(t *testing.T, format string, cases []reading) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d, f, err := dataset.Read("x", []byte(tc.input), format)
			if tc.bad {
				if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
					t.Fatalf("error = %v, want one that starts with %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(d); got != tc.want {
				t.Errorf("dataset =\n%s\nwant\n%s", got, tc.want)
			}
			if f.Name != format || len(d.Warnings) != tc.warnings {
				t.Errorf("format %s with %d warnings %q, want %s with %d", f.Name, len(d.Warnings), d.Warnings, format, tc.warnings)
			}
		})
	}
}

func TestAddJoinsEqualPlaces(t *testing.T) {
	d := dataset.New("p")
	s := d.Get("f", "time")
	s.Add([]float64{0}, 1)
	s.Add([]float64{math.Copysign(0, -1)}, 2)
	s.Add([]float64{1}, 3)
	d.Get("f", "time").Add([]float64{0}, 4, 5)
	if got, want := text(d), "p\nf time [0]=[1 2 4 5] [1]=[3]"; got != want {
		t.Errorf("dataset = %s, want %s", got, want)
	}
	if n := d.Measurements(); n != 5 {
		t.Errorf("Measurements = %d, want 5", n)
	}
}

// The caller's slices stay its own.
func TestAddCopies(t *testing.T) {
	at, values := []float64{4}, []float64{1}
	d := dataset.New("p")
	d.Get("f", "time").Add(at, values...)
	at[0], values[0] = 8, 2
	if got, want := text(d), "p\nf time [4]=[1]"; got != want {
		t.Errorf("dataset = %s, want %s", got, want)
	}
}

func TestFindAll(t *testing.T) {
	d := dataset.New("p")
	for _, path := range []string{"main->solve", "solve", "main/io/write", "main->solve->solve"} {
		for _, metric := range []string{"time", "bytes"} {
			d.Get(path, metric).Add([]float64{1}, 1)
		}
	}
	for _, tc := range []struct {
		function, metric string
		want             []string
	}{
		{"solve", "time", []string{"solve", "main->solve", "main->solve->solve"}}, // the whole path first
		{"solve", "", []string{"solve", "main->solve", "main->solve->solve"}},
		{"main/solve", "time", []string{"main->solve"}},
		{"main->io->write", "bytes", []string{"main/io/write"}},
		{"write", "time", nil}, // the last name counts in paths with ->
		{"solve", "visits", nil},
	} {
		var got []string
		for _, s := range d.FindAll(tc.function, tc.metric) {
			got = append(got, s.CallPath)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("FindAll(%q, %q) = %q, want %q", tc.function, tc.metric, got, tc.want)
		}
	}
}

// What one dataset measured without a parameter of the other cannot be compared: Settle removes it, and warns.
func TestMergeAndSettle(t *testing.T) {
	one, two := dataset.New("p"), dataset.New("n", "p")
	one.Get("f", "time").Add([]float64{4}, 1)
	two.Get("f", "time").Add([]float64{100, 4}, 2)
	two.Get("g", "time").Add([]float64{100, 8}, 3)
	one.Merge(two)
	if got, want := text(one), "p n\nf time [4 NaN]=[1] [4 100]=[2]\ng time [8 100]=[3]"; got != want {
		t.Fatalf("merged =\n%s\nwant\n%s", got, want)
	}
	if err := one.Settle(); err != nil {
		t.Fatal(err)
	}
	if got, want := text(one), "p n\nf time [4 100]=[2]\ng time [8 100]=[3]"; got != want || len(one.Warnings) != 1 {
		t.Errorf("settled =\n%s\nwith warnings %q, want\n%s\nand one", got, one.Warnings, want)
	}
	none := dataset.New("p")
	none.Merge(func() *dataset.Dataset {
		d := dataset.New("n")
		d.Get("f", "time").Add([]float64{1}, 1)
		return d
	}())
	if err := none.Settle(); err == nil {
		t.Error("a dataset without any complete point is accepted")
	}
}

// Values of different units are in no known unit.
func TestMergeUnits(t *testing.T) {
	for _, tc := range []struct{ first, second, want string }{{"s", "s", "s"}, {"s", "us", ""}, {"", "s", ""}} {
		one, two := dataset.New("p"), dataset.New("p")
		one.Get("f", "time").Add([]float64{1}, 1)
		one.Series[0].Unit = tc.first
		two.Get("f", "time").Add([]float64{2}, 1)
		two.Series[0].Unit = tc.second
		one.Merge(two)
		if got := one.Series[0].Unit; got != tc.want {
			t.Errorf("%q and %q merged have the unit %q, want %q", tc.first, tc.second, got, tc.want)
		}
		if err := one.Settle(); (err != nil) != (tc.second == "us") {
			t.Errorf("%q and %q merged: error %v", tc.first, tc.second, err)
		}
	}
}

func TestSelect(t *testing.T) {
	d := dataset.New("p", "n")
	d.Get("f", "time").Add([]float64{4, 100}, 1)
	d.Get("f", "time").Add([]float64{4, 200}, 2)
	d.Get("g", "time").Add([]float64{4, 200}, 3)
	if err := d.Select("size", 1); err == nil {
		t.Error("an unknown parameter is selected")
	}
	if err := d.Select("n", 100); err != nil {
		t.Fatal(err)
	}
	if got, want := text(d), "p\nf time [4]=[1]"; got != want { // g was not measured there
		t.Errorf("selected =\n%s\nwant\n%s", got, want)
	}
}

func TestSetParameter(t *testing.T) {
	d := dataset.New("n")
	d.Get("f", "time").Add([]float64{100}, 1)
	if err := d.SetParameter("p", 64); err != nil {
		t.Fatal(err)
	}
	d.Get("f", "time").Add([]float64{64, 100}, 2)
	if got, want := text(d), "p n\nf time [64 100]=[1 2]"; got != want {
		t.Errorf("dataset =\n%s\nwant\n%s", got, want)
	}
	if d.SetParameter("n", 1) == nil {
		t.Error("a parameter is set twice")
	}
	for i := len(d.Parameters); i < dataset.MaxParameters; i++ {
		if err := d.SetParameter(fmt.Sprintf("x%d", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if d.SetParameter("y", 1) == nil {
		t.Errorf("more than %d parameters are set", dataset.MaxParameters)
	}
}

func TestDropConstant(t *testing.T) {
	for _, tc := range []struct {
		name, dropped, want string
		points              [][]float64
	}{
		{"one varies", "[a c]", "b\nf time [1]=[0] [2]=[1]", [][]float64{{7, 1, 9}, {7, 2, 9}}},
		{"all vary", "[]", "a b c\nf time [1 1 1]=[0] [2 2 2]=[1]", [][]float64{{1, 1, 1}, {2, 2, 2}}},
		{"none varies, one stays", "[b c]", "a\nf time [7]=[0]", [][]float64{{7, 8, 9}}},
	} {
		d := dataset.New("a", "b", "c")
		for i, at := range tc.points {
			d.Get("f", "time").Add(at, float64(i))
		}
		if dropped := fmt.Sprint(d.DropConstant()); dropped != tc.dropped || text(d) != tc.want {
			t.Errorf("%s: dropped %s, left\n%s\nwant %s and\n%s", tc.name, dropped, text(d), tc.dropped, tc.want)
		}
	}
}

func TestLargerIsBetter(t *testing.T) {
	for _, tc := range []struct {
		metric, unit string
		want         bool
	}{
		{"time", "s", false}, {"latency", "us", false}, {"bandwidth", "MB/s", true}, {"Bandwidth", "", true},
		{"x", "GB/s", true}, {"MB/s", "", true}, {"runtime_efficiency", "", true}, {"bandwidth_test", "s", false},
		{"parallel_efficiency", "", true}, {"busbw", "GB/s", true}, {"messages", "", false}, {"speedup", "", true},
		{"GFlops", "", true}, {"items_per_second", "", true}, {"flops", "", false},
		{"rate", "", true}, {"hit_rate", "", true}, {"msgrate", "", true}, {"MessageRate", "", true}, {"updateRate", "1/h", true},
		{"RATE", "", true},
		{"generate", "", false}, {"strategy", "", false}, {"integrate_2", "", false}, {"iterate", "s", false},
		{"cache_miss_rate", "", false}, {"error rate", "", false},
		{"errors/s", "", false}, {"page_faults_per_second", "", false}, {"dropped_packets/s", "", false}, {"retransmits/s", "", false},
		{"cache_misses", "1/s", false}, {"cacheMissesPerSecond", "", false}, {"LLC-load-misses/s", "", false}, {"failures", "1/s", false},
		{"stalled_cycles_rate", "", false}, {"retry_rate", "", false}, {"default_rate", "", true},
		{"efficiency_loss", "", false}, {"bandwidth_loss", "", false}, {"inefficiency", "", false},
		{"seconds_per_sector", "", false}, {"time per_section", "", false}, {"latency/s", "", false}, {"latency", "1/s", false},
		{"time_steps_per_second", "", true}, {"itemsPerSecond", "", true}, {"messages per unit time", "", true}, {"MFLOP/s", "", true},
		{"IOPS", "", true}, {"TEPS", "", true}, {"GTEPS", "", true}, {"FOM", "", true}, {"ipc", "", true}, {"frequency", "Hz", true},
		{"read_iops", "", true}, {"groups", "", false}, {"IPC", "", true},
	} {
		if got := dataset.LargerIsBetter(tc.metric, tc.unit); got != tc.want {
			t.Errorf("%s in %q: %v", tc.metric, tc.unit, got)
		}
	}
}
