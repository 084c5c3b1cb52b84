package columns

import (
	"cmp"
	"context"
	"runtime"

	"slackline/analyze/waits"
	"slackline/internal/atomicfile"
	"slackline/internal/columnfile"
	"slackline/internal/parallel"
)

// Written is a table that was written.
type Written struct {
	Table *Table
	Rows  int64
}

// NewRun returns a run without what WriteDir finds out while it writes the tables that do not need it.
func NewRun(result *waits.Result) *Run { return &Run{Waits: result, Profile: result.Profile()} }

func (r *Run) findOrigins(ctx context.Context) (err error) {
	r.Origins, err = r.Waits.Origins(ctx)
	return err
}

func (r *Run) findCritical(ctx context.Context) (err error) {
	r.critical.Do(func() { r.Critical, r.criticalErr = r.Waits.FindCriticalPath(ctx) })
	return r.criticalErr
}

// CheckFree returns an error if tables cannot be written at a path because of what is there; force: tables are replaced.
func CheckFree(dir string, force bool) error { return atomicfile.CheckFree(dir, replaceable(force)) }

func replaceable(force bool) (suffixes []string) {
	if force {
		for _, f := range columnfile.Formats() {
			suffixes = append(suffixes, "."+string(f))
		}
	}
	return suffixes
}

// WriteDir writes all tables of a run into a directory that appears when it is complete: a file in a format for each, with the name
// of the table and the suffix of the format. What was there before is replaced if force is set.
func WriteDir(ctx context.Context, dir string, f columnfile.Format, force bool, r *Run) ([]Written, error) {
	written := make([]Written, len(Tables))
	err := atomicfile.WriteDir(dir, replaceable(force), func(d *atomicfile.Dir) error {
		return parallel.Try(len(Tables), runtime.GOMAXPROCS(0), func(i int) error {
			t := &Tables[i]
			file, err := d.Create(t.Name + "." + string(f))
			if err != nil {
				return err
			}
			written[i].Table = t
			if t.needs != nil {
				err = t.needs(r, ctx)
			}
			if err == nil {
				written[i].Rows, err = t.Write(file, f, r, ctx.Err)
			}
			return cmp.Or(err, file.Close())
		})
	})
	return written, err
}
