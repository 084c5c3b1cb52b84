package trace

import (
	"context"

	"slackline/internal/cluster"
)

// reads reports whether this process reads the events of a rank.
func (c *conversion) reads(rank int) bool {
	if c.group == nil {
		return true
	}
	return rank >= c.bounds[c.group.Rank()] && rank < c.bounds[c.group.Rank()+1]
}

// gatherLost tells all processes what is missing of the locations that this one read.
func (c *conversion) gatherLost(ctx context.Context) error {
	own := map[int]string{}
	for i, what := range c.lost {
		if what != "" && c.reads(c.Locations[i].Rank) {
			own[i] = what
		}
	}
	all, err := cluster.AllGatherValues(ctx, c.group, &own)
	if err != nil {
		return err
	}
	clear(c.lost)
	for p := range all {
		for i, what := range all[p] {
			if i < 0 || i >= len(c.lost) {
				return cluster.ErrGarbled
			}
			c.lost[i] = what
		}
	}
	return nil
}
