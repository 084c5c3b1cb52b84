package replay

import (
	"slices"

	"slackline/internal/stat"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// repetition is what makes computations of a rank repetitions of each other: the same call path between
// the same two MPI calls.
type repetition struct {
	path, before, after timeline.PathID
}

// minRepetitions is how often a computation must occur for its quantile to be meaningful.
const minRepetitions = 3

// quantileSteps is how finely quantiles are distinguished.
const quantileSteps = 1_000_000

// denoiser collects the computations of a rank.
type denoiser struct {
	known map[repetition]int32
	last  repetition // of the last one, and its number
	at    int32
	list  [][]uint32 // by number: operations
}

func (d *denoiser) clear() {
	d.list, d.at = d.list[:0], -1
	clear(d.known)
}

// note notes that an operation is a computation of this kind.
func (d *denoiser) note(op uint32, r repetition) {
	if d.at < 0 || r != d.last {
		at, ok := d.known[r]
		if !ok {
			if d.known == nil {
				d.known = map[repetition]int32{}
			}
			at = int32(len(d.list))
			d.known[r] = at
			d.list = append(d.list, nil)
		}
		d.last, d.at = r, at
	}
	d.list[d.at] = append(d.list[d.at], op)
}

// replace gives all repetitions of a computation the same length, the quantile q of theirs.
func (d *denoiser) replace(ops []schedule.Op, q float64, report *walkReport) {
	var lengths []int64
	for _, list := range d.list {
		if len(list) < minRepetitions {
			continue
		}
		lengths = lengths[:0]
		for _, op := range list {
			lengths = append(lengths, ops[op].Size)
			report.before += unit.Duration(ops[op].Size)
		}
		slices.Sort(lengths)
		length := stat.QuantileInt(lengths, int(q*quantileSteps+0.5), quantileSteps)
		for _, op := range list {
			ops[op].Size = length
		}
		report.denoised += int64(len(list))
		report.after += unit.Duration(length) * unit.Duration(len(list))
	}
}
