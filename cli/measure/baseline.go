package measure

import (
	"cmp"
	"encoding/json"
	"fmt"

	"slackline/internal/jsonkeys"
	"slackline/internal/source"
	"slackline/observe/measure"
)

// collectivesBaseline is an earlier result of measure collectives.
type collectivesBaseline struct {
	Points  []collectivePoint
	Schemes []collectiveScheme
}

// ReadCollectivesBaseline reads a result in JSON.
func ReadCollectivesBaseline(path string) (*collectivesBaseline, error) {
	data, err := source.Disk(path, source.All)
	if err != nil {
		return nil, err
	}
	var file collectivesDocument
	if err := cmp.Or(json.Unmarshal(data, &file), jsonkeys.Check(data, &file)); err != nil {
		return nil, fmt.Errorf("%s: is not a result of 'measure collectives --format json': %w", path, err)
	}
	if file.Version != 1 || len(file.Points) == 0 {
		return nil, fmt.Errorf("%s: is not a result of 'measure collectives --format json'", path)
	}
	return &collectivesBaseline{file.Points, file.Schemes}, nil
}

// launches are the medians of the launches at the same point by the same scheme and reduction.
func (b *collectivesBaseline) launches(scheme measure.Scheme, p *measure.CollectivePoint, how measure.Reduction) []float64 {
	for _, x := range b.Points {
		if x.Scheme == scheme && x.Operation == p.Operation.Name && x.Ranks == p.Ranks && x.Size == p.Size && !x.Refused {
			return x.Reductions[how].LaunchMedians
		}
	}
	return nil
}
