package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

const vectorData = "../../testdata/loggops"

// vector is a case of the reference data: a schedule on a machine with the finish times.
type vector struct {
	name    string
	program *schedule.Graph
	testMachine
	want []int64 // finish times in ps
}

// readJSON reads a file of the reference data into a value.
func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectorData, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readSchedule(t testing.TB, name string) *schedule.Graph {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectorData, name))
	if err != nil {
		t.Fatal(err)
	}
	g, err := schedule.Read(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// loadVectors returns the cases with one class of links.
func loadVectors(t testing.TB) []vector {
	t.Helper()
	type vectorFile []struct {
		File string
		L    int64 `json:"L"`
		Ovh  int64 `json:"o"`
		Gap  int64 `json:"g"`
		G    int64 `json:"G"`
		O    int64 `json:"O"`
		S    int64 `json:"S"`

		Noise *struct {
			Trace   [][2]int64
			Period  int64   `json:"period_ns"`
			Offsets []int64 `json:"offsets_ns"`
		}
		NoiseClock string  `json:"noise_clock"`
		Want       []int64 `json:"want_ns"`
	}
	var list, cpuClock vectorFile
	readJSON(t, "vectors/vectors.json", &list)
	readJSON(t, "vectors/vectors-noise-clock.json", &cpuClock)
	list = append(list, cpuClock...)
	var vectors []vector
	for i, c := range list {
		v := vector{
			name:    fmt.Sprintf("%03d-%s", i, c.File),
			program: readSchedule(t, filepath.Join("vectors", c.File)),
			want:    nanoseconds(c.Want),
		}
		v.machine = machine.FromParams("vector", machine.Params{
			Latency:  unit.Duration(c.L) * unit.Nanosecond,
			Gap:      unit.Duration(c.Gap) * unit.Nanosecond,
			Overhead: machine.One(unit.Duration(c.Ovh) * unit.Nanosecond),
			PerByte:  machine.One(unit.PerByte(c.G * 1e6)),
			CPUByte:  unit.PerByte(c.O * 1e6),
			Eager:    c.S,
		})
		if c.Noise != nil {
			v.noise = &testNoise{period: c.Noise.Period * 1000, offsets: nanoseconds(c.Noise.Offsets)}
			for _, d := range c.Noise.Trace {
				v.noise.detours = append(v.noise.detours, noise.Detour{Start: d[0] * 1000, Length: d[1] * 1000})
			}
			if c.NoiseClock == "cpu" {
				v.noise.clock = noise.CPUClock
			}
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// loadClassVectors returns the cases of machines with classes (R13).
func loadClassVectors(t testing.TB) []vector {
	t.Helper()
	var list []struct {
		File, Machine string
		Want          []int64 `json:"want_ns"`
	}
	readJSON(t, "vectors-classes/index.json", &list)
	var vectors []vector
	for _, c := range list {
		v := vector{
			name:    c.File,
			program: readSchedule(t, filepath.Join("vectors-classes", c.File)),
			want:    nanoseconds(c.Want),
		}
		data, err := os.ReadFile(filepath.Join(vectorData, "vectors-classes", c.Machine))
		if err != nil {
			t.Fatal(err)
		}
		if v.machine, err = machine.Read(c.Machine, data); err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func TestReferenceMeetsVectors(t *testing.T) {
	vectors := append(loadVectors(t), loadClassVectors(t)...)
	if len(vectors) != 163+30+19 {
		t.Errorf("%d vectors, want %d", len(vectors), 163+30+19)
	}
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			got, err := runReference(v.program, &v.testMachine)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, v.want) {
				t.Errorf("finish = %v, want %v\n%v", got, v.want, v.testMachine.String())
			}
		})
	}
}

// loadErrors returns the schedules that can be read but not run. A reader may refuse them as well.
func loadErrors(t testing.TB) map[string]*schedule.Graph {
	t.Helper()
	var list []struct{ File, Stage string }
	readJSON(t, "errors/errors.json", &list)
	programs := map[string]*schedule.Graph{}
	for _, c := range list {
		if c.Stage != "run" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(vectorData, "errors", c.File))
		if err != nil {
			t.Fatal(err)
		}
		if g, err := schedule.Read(c.File, data); err == nil {
			programs[c.File] = g
		}
	}
	if len(programs) < 4 {
		t.Fatalf("%d schedules can be read but not run, want at least 4", len(programs))
	}
	return programs
}

func TestReferenceRefusesErrors(t *testing.T) {
	programs := loadErrors(t)
	m := vectorDefaults()
	for name, p := range programs {
		if got, err := runReference(p, &m); err == nil {
			t.Errorf("%s: finish = %v, want an error", name, got)
		}
	}
	m.machine.Classes[machine.Far].Eager = 70000
	if got, err := runReference(programs["deadlock-rendezvous.goal"], &m); err != nil {
		t.Errorf("deadlock-rendezvous.goal with S = 70000: %v, %v, want no error", got, err)
	}
}
