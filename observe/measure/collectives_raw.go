package measure

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteRaw writes when each execution began and ended on each rank, as CSV that package dataset reads; times of a
// repetition count from the same moment.
func WriteRaw(w io.Writer, list []*Collectives) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"scheme", "operation", "ranks", "size", "launch", "repetition", "rank", "start_ns", "end_ns", "flags",
		"executions", "counts"}); err != nil {
		return err
	}
	for _, c := range list {
		for _, p := range c.Points {
			for i := range p.Runs {
				if err := c.writeRawRun(out, p, &p.Runs[i]); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (c *Collectives) writeRawRun(out *csv.Writer, p *CollectivePoint, run *CollectiveRun) error {
	counts := 1
	if run.Refused {
		counts = 0
	}
	for k := range run.Repetitions {
		one := &run.Repetitions[k]
		for rank := range one.Start {
			record := []string{string(c.Options.Scheme), p.Operation.Name}
			for _, n := range []int64{
				int64(p.Ranks), int64(p.Size), int64(run.Launch), int64(k), int64(rank), one.Start[rank], one.End[rank], int64(one.Flags[rank]),
				int64(c.Options.executions()), int64(counts),
			} {
				record = append(record, strconv.FormatInt(n, 10))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	return nil
}
