package record

import (
	"errors"
	"fmt"
	"path/filepath"

	"slackline/internal/source"
	"slackline/model/trace"
)

// A member of another world stands in a definition as the number of the remote group by which its process first became known, and its
// rank in that; worlds.c has the layout.
const (
	farMember = 1 << 30
	farRanks  = 1 << 20
)

// ranksOfWorlds is how many ranks the worlds of a run have together, as each has left word; 0: it is unknown. A world whose raw files are
// all gone is known from it alone.
func ranksOfWorlds(dir string) (ranks int) {
	list, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "world-*"))
	for _, path := range list {
		text, err := source.ReadKept(path)
		var base, n int
		_, errScan := fmt.Sscanf(string(text), "%d %d;", &base, &n)
		if errors.Join(err, errScan) == nil && min(base, n) >= 0 && base+n <= farRanks {
			ranks = max(ranks, base+n)
		}
	}
	return ranks
}

// compareWorlds adds to the first process of a further world that its clock is that of a process of an earlier one, if both are on one
// host.
func compareWorlds(files []*threadFiles) {
	for _, f := range files {
		if f.head.base == 0 || f.rank != f.head.base || f.thread != 0 {
			continue
		}
		for _, other := range files {
			if other.rank >= f.rank || other.head.host != f.head.host || other.head.boot != f.head.boot {
				continue
			}
			at := picoseconds(f.head.start)
			f.definitions.pings = append(f.definitions.pings, trace.RoundTrip{Partner: other.rank, Sent: at, Answered: at, Back: at})
			break
		}
	}
}
