package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"slackline/internal/journal"
	"slackline/internal/source"
	"slackline/internal/trusted"
	"slackline/model/dataset"
)

// Value is a parameter with its value.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// point is where the run is.
func (r *Run) point() []Value {
	list := make([]Value, len(r.At))
	for i, q := range r.plan.Parameters {
		list[i] = Value{q.Name, r.At[i]}
	}
	return list
}

// PointOf returns the parameters of the run in whose directory a file lies, nil if it is not in one.
func PointOf(path string) []Value {
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	const most = 4 // levels of directories that a run makes
	for range most {
		o, err := readOrder(filepath.Join(dir, orderFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && IsDir(filepath.Join(dir, "..", "..")) { // damaged
			o, err = &order{Run: filepath.Base(dir)}, nil
		}
		if err == nil {
			if o.Point == nil { // of an older campaign: its name has them
				names, at := dataset.PlaceOf(o.Run)
				for i := range names {
					o.Point = append(o.Point, Value{names[i], at[i]})
				}
			}
			return o.Point
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// IsDir reports whether a directory holds the runs of a campaign.
func IsDir(dir string) bool {
	data, err := source.ReadKept(filepath.Join(dir, journalFile))
	if err != nil {
		return false
	}
	lines, _, err := journal.Lines(journalFile, data)
	var head headLine
	return err == nil && len(lines) > 0 && json.Unmarshal(lines[0], &head) == nil && head.Version > 0
}

// FinishedRuns returns the directories of the runs of a campaign that ended well, and of the others, both by name. With an error of a
// file that is damaged, it returns those of the others.
func FinishedRuns(dir string) (finished, others []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		run := filepath.Join(dir, "runs", e.Name())
		ok, damage := finishedRun(run)
		switch {
		case errors.Is(damage, fs.ErrNotExist), errors.Is(damage, trusted.ErrUntrusted):
			continue
		case damage != nil && err == nil:
			err = fmt.Errorf("%w; put the file there as it was, or move %s away to leave this run out", damage, run)
		}
		if ok {
			finished = append(finished, run)
		} else {
			others = append(others, run)
		}
	}
	slices.Sort(finished)
	slices.Sort(others)
	return finished, others, err
}

// finishedRun reports whether the run in a directory ended well.
func finishedRun(dir string) (bool, error) {
	o, err := readOrder(filepath.Join(dir, orderFile))
	if err != nil {
		return false, err
	}
	r, err := readResult(dir, o.Attempt)
	if err == nil && r == nil && hasDamagedResult(dir) {
		err = fmt.Errorf("%s: expected the result of a run", filepath.Join(dir, resultFile))
	}
	return r.fine(), err
}
