package columns

import (
	"context"
	"runtime"

	"slackline/analyze/waits"
	"slackline/internal/atomicfile"
	"slackline/internal/parallel"
)

// Written is a table that was written.
type Written struct {
	Table *Table
	Rows  int64
}

// NewRun asks the analyses for everything that the tables hold.
func NewRun(ctx context.Context, result *waits.Result) (*Run, error) {
	r := &Run{Waits: result, Profile: result.Profile()}
	var err error
	if r.Critical, err = result.FindCriticalPath(ctx); err != nil {
		return nil, err
	}
	if r.Origins, err = result.Origins(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// WriteDir writes all tables of a run into a directory that appears when it is complete: NAME.parquet for each. What was
// there before is replaced if force is set.
func WriteDir(ctx context.Context, dir string, force bool, r *Run) ([]Written, error) {
	written := make([]Written, len(Tables))
	failed := make([]error, len(Tables))
	err := atomicfile.WriteDir(dir, force, func(d *atomicfile.Dir) error {
		parallel.Each(len(Tables), runtime.GOMAXPROCS(0), func(i int) {
			t := &Tables[i]
			f, err := d.Create(t.Name + ".parquet")
			if err != nil {
				failed[i] = err
				return
			}
			rows, err := t.Write(f, r, ctx.Err)
			if closed := f.Close(); err == nil {
				err = closed
			}
			written[i], failed[i] = Written{t, rows}, err
		})
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
		return nil
	})
	return written, err
}
