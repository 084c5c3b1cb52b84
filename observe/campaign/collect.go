package campaign

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"slackline/internal/source"
	"slackline/model/dataset"
)

// Collect reads the outputs of all finished runs into one dataset. What has no value at a point of the plan has a blank there (see
// dataset.Blanks). Parameters that have one value only are left out, as far as one stays.
func (c *Campaign) Collect() (*dataset.Dataset, error) {
	all := dataset.New(c.Plan.Names()...)
	finished := 0
	var points [][]float64
	for _, r := range c.States() {
		points = append(points, r.At)
		if !r.Done() {
			continue
		}
		finished++
		changed, err := c.changed(r.Name, r.Last.Output)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		d, err := r.measure(c.Base, c.RunDir(r.Name), &r.Last.result)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if changed {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: stdout or stderr is not what the run wrote; it was changed afterwards",
				c.RunDir(r.Name)))
		}
		all.Merge(d)
	}
	if finished == 0 {
		return nil, fmt.Errorf("%s: no run is finished yet", c.Dir)
	}
	all.Plan(c.Plan.Names(), slices.CompactFunc(points, slices.Equal))
	all.DropConstant()
	return all, all.CheckUnits()
}

// changed reports whether the output of a run is not what it wrote; runs of earlier versions have no checksum.
func (c *Campaign) changed(run, want string) (bool, error) {
	if want == "" {
		return false, nil
	}
	got, err := outputSum(c.RunDir(run))
	return got != want, err
}

// outputSum is the checksum of the standard output and error in the directory of a run.
func outputSum(dir string) (string, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, name := range []string{stdoutFile, stderrFile} {
		f, err := source.Kept(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		n, err := io.Copy(sum, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		fmt.Fprint(sum, n) // what is at the end of one must not move to the start of the other
	}
	return fmt.Sprintf("%08x", sum.Sum32()), nil
}
