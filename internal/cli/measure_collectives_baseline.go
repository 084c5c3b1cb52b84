package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"slackline/observe/measure"
)

// collectivesBaseline is an earlier result of measure collectives.
type collectivesBaseline struct{ points []collectiveJSON }

// readCollectivesBaseline reads a result in JSON.
func readCollectivesBaseline(path string) (*collectivesBaseline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file measuredCollectivesJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: is not a result of 'measure collectives --format json': %w", path, err)
	}
	if file.Version != 1 || len(file.Points) == 0 {
		return nil, fmt.Errorf("%s: is not a result of 'measure collectives --format json'", path)
	}
	return &collectivesBaseline{file.Points}, nil
}

// launches are the medians of the launches at the same point by the same scheme and reduction.
func (b *collectivesBaseline) launches(scheme measure.Scheme, p *measure.CollectivePoint, how measure.Reduction) []float64 {
	for _, x := range b.points {
		if x.Scheme == scheme && x.Operation == p.Operation.Name && x.Ranks == p.Ranks && x.Size == p.Size && !x.Refused {
			return x.Reductions[how].LaunchMedians
		}
	}
	return nil
}

// readLaunches reads a result of measure collectives in JSON as runs, one for each launch, with the medians of the points in seconds; found
// is false if the file is something else.
func readLaunches(word string) (runs []measured, found bool, err error) {
	f, err := os.Open(word)
	if err != nil {
		return nil, false, nil // a pattern, or a mistake that others tell
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if !bytes.Contains(head[:n], []byte(`"slackline_dataset"`)) {
		return nil, false, nil
	}
	b, err := readCollectivesBaseline(word)
	if err != nil {
		return nil, true, err
	}
	for _, p := range b.points {
		how := p.Scheme.Own()
		key := measurement{"time", fmt.Sprintf("%s p=%d size=%d", p.Operation, p.Ranks, p.Size)}
		if p.Scheme != b.points[0].Scheme {
			key.metric += "_" + strings.ReplaceAll(string(p.Scheme), "-", "_")
		}
		for k, ns := range p.Reductions[how].LaunchMedians {
			for len(runs) <= k {
				runs = append(runs, newMeasured(0))
			}
			runs[k].values[key] = ns * 1e-9
		}
	}
	if len(runs) == 0 {
		return nil, true, fmt.Errorf("%s: no point of this measurement counts", word)
	}
	return runs, true, nil
}
