package dataset

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"strings"

	"slackline/internal/plain"
	"slackline/model/missing"
)

// The JSON of slackline simulate, of one number of ranks or of several, with
// replicas. The parameter is p, the metric makespan, in seconds. Samples are
// repetitions; without them the median stands for all. Results of different
// machines are no series.

var simulationFormat = Format{Name: "simulation", Info: "result of slackline simulate", PlaceInName: true, Sniff: sniffSimulation,
	Read: decodedResult(readSimulation)}

func sniffSimulation(head []byte) bool {
	return isObject(head) && (hasKey(head, "makespan_ns") || hasKey(head, "noiseless_ns"))
}

type simulationFile struct {
	Input    string        `json:"input"`
	Ranks    int           `json:"ranks"`
	Makespan *float64      `json:"makespan_ns"`
	Missing  missing.Parts `json:"missing"` // of the recorded run that was simulated
	From     struct {
		Machine any `json:"machine"`
	} `json:"provenance"`
	Results []struct {
		Ranks    int       `json:"ranks"`
		Replicas int       `json:"replicas"`
		Median   *float64  `json:"median_ns"`
		Samples  []float64 `json:"samples_ns"`
	} `json:"results"`
}

func readSimulation(name string, file *simulationFile) (*Dataset, error) {
	const seconds = 1e-9
	d := New("p")
	series := d.Get(file.Input, "makespan")
	series.Unit = "s"
	if file.Makespan != nil {
		if file.Ranks < 1 {
			return nil, fmt.Errorf("%s: does not say how many ranks were simulated", name)
		}
		series.Add([]float64{float64(file.Ranks)}, *file.Makespan*seconds)
	}
	for i, r := range file.Results {
		samples := r.Samples
		if r.Ranks < 1 || len(samples) == 0 && r.Median == nil {
			return nil, fmt.Errorf("%s: result %d (from 1) has no ranks, or neither median_ns nor samples_ns", name, i+1)
		}
		if len(samples) == 0 {
			samples = []float64{*r.Median}
			if r.Replicas > 1 {
				d.warnf("%s: only the median of the replicas is in the file; simulate with --samples to keep all", name)
			}
		}
		for _, v := range samples {
			series.Add([]float64{float64(r.Ranks)}, v*seconds)
		}
	}
	if len(series.Points) == 0 {
		return nil, fmt.Errorf("%s: holds no result of a simulation", name)
	}
	if err := file.Missing.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.Of(missing.Run{Name: name, Machine: machineOf(file.From.Machine), Parts: file.Missing})
	return d, nil
}

// machineOf names a machine of a provenance, with a checksum of its parameters, since those of one name may differ; empty: there is none.
func machineOf(machine any) string {
	members, _ := machine.(map[string]any)
	name, _ := members["name"].(string)
	description, _ := members["description"].(string)
	if name == "" && description == "" {
		return ""
	}
	sum := crc32.NewIEEE()
	for line := range strings.Lines(description) {
		if !strings.HasPrefix(line, "note:") {
			sum.Write([]byte(line))
		}
	}
	return fmt.Sprintf("%s (%08x)", plain.Name(cmp.Or(name, "without a name")), sum.Sum32())
}
