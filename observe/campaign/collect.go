package campaign

import (
	"fmt"

	"slackline/model/dataset"
)

// Collect reads the outputs of all finished runs into one dataset. Parameters that have one value only
// are left out, as far as one stays.
func (c *Campaign) Collect() (*dataset.Dataset, error) {
	all := dataset.New(c.Plan.Names()...)
	finished := 0
	for _, r := range c.States() {
		if !r.Done() {
			continue
		}
		finished++
		d, err := r.measure(c.Base, c.RunDir(r.Name), &r.Last.result)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		all.Merge(d)
	}
	if finished == 0 {
		return nil, fmt.Errorf("%s: no run is finished yet", c.Dir)
	}
	all.DropConstant()
	return all, nil
}
