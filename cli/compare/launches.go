package compare

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	climeasure "slackline/cli/measure"
	"slackline/cli/profile"
)

// readLaunches reads a result of measure collectives in JSON as runs, one for each launch, with the medians of the points in seconds; found
// is false if the file is something else.
func readLaunches(word string) (runs []profile.Measured, found bool, err error) {
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
	b, err := climeasure.ReadCollectivesBaseline(word)
	if err != nil {
		return nil, true, err
	}
	for _, p := range b.Points {
		how := p.Scheme.Own()
		key := profile.Measurement{Metric: "time", Path: fmt.Sprintf("%s p=%d size=%d", p.Operation, p.Ranks, p.Size)}
		if p.Scheme != b.Points[0].Scheme {
			key.Metric += "_" + strings.ReplaceAll(string(p.Scheme), "-", "_")
		}
		for k, ns := range p.Reductions[how].LaunchMedians {
			for len(runs) <= k {
				runs = append(runs, profile.NewMeasured(0))
			}
			runs[k].Values[key] = ns * 1e-9
		}
	}
	if len(runs) == 0 {
		return nil, true, fmt.Errorf("%s: no point of this measurement counts", word)
	}
	return runs, true, nil
}
