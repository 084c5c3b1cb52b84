package datasets

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/suggest"
	"slackline/model/dataset"
	"slackline/model/missing"
	"slackline/model/unit"
	"slackline/observe/campaign"
)

// placePrefix is the point that stands before an input, e.g. n=1000:run1.slt.
var placePrefix = regexp.MustCompile(`^((?:[A-Za-z][A-Za-z0-9_]*=[0-9][0-9.eE+]*,?)+):(.+)$`)

// CutPlace takes the point off an input. A file may have such a name.
func CutPlace(word string) (place, path string) {
	m := placePrefix.FindStringSubmatch(word)
	if m == nil || FileExists(word) {
		return "", word
	}
	return strings.TrimSuffix(m[1], ","), m[2]
}

// open reads the measurements of all words into one dataset: runs are analyzed, all else is read as it is.
func (o *DataOptions) open(ctx context.Context, a *env.Env, words []string) (*dataset.Dataset, []provenance.Input, error) {
	if names := dataset.FormatNames(); o.format != "" && !slices.Contains(names, o.format) {
		return nil, nil, exit.Usagef("--input: %q is not a format of measurements%s", o.format, suggest.Phrase(o.format, names))
	}
	all := dataset.New()
	var records []provenance.Input
	runs, placed := false, false
	for _, word := range words {
		place, path := CutPlace(word)
		d, list, isRun, inCampaign, err := o.openOne(ctx, a, path)
		if err == nil {
			err = setPlace(d, place)
		}
		if err != nil {
			return nil, nil, err
		}
		o.odd = append(o.odd, oddPlaces(path, d)...)
		runs, placed = runs || isRun, placed || place != "" || inCampaign
		records = append(records, list...)
		if len(words) == 1 {
			all = d
		} else {
			all.Merge(d)
		}
	}
	a.WarnOfCopies(records)
	if placed {
		all.DropConstant()
	}
	if runs {
		o.dropZeros(a, all)
	}
	return all, records, nil
}

// oddPlace is a value of a parameter that no law can be fitted to, with the input that has it.
type oddPlace struct {
	path, name string
	value      float64
}

// oddPlaces are those of an input, each once.
func oddPlaces(path string, d *dataset.Dataset) (list []oddPlace) {
	seen := map[oddPlace]bool{}
	for _, s := range d.Series {
		for _, p := range s.Points {
			for i, x := range p.At {
				if odd := (oddPlace{path, d.Parameters[i], x}); x <= 0 && !seen[odd] {
					seen[odd], list = true, append(list, odd)
				}
			}
		}
	}
	return list
}

// WarnOfPlaces names the inputs that have points which no law can be fitted to.
func (o *DataOptions) WarnOfPlaces(a *env.Env, d *dataset.Dataset) {
	said := map[[2]string]bool{}
	for _, odd := range o.odd {
		at := slices.Index(d.Parameters, odd.name)
		there := at >= 0 && slices.ContainsFunc(d.Series, func(s *dataset.Series) bool {
			return slices.ContainsFunc(s.Points, func(p dataset.Point) bool { return p.At[at] == odd.value })
		})
		if key := [2]string{odd.path, odd.name}; there && !said[key] {
			said[key] = true
			a.Warn("%s: %s is %g; laws are fitted to values above 0", odd.path, odd.name, odd.value)
		}
	}
}

// setPlace gives measurements the parameters that stand before the input.
func setPlace(d *dataset.Dataset, place string) error {
	if place == "" {
		return nil
	}
	for _, part := range strings.Split(place, ",") {
		name, value, ok := strings.Cut(part, "=")
		x, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || !(x > 0) || math.IsInf(x, 0) {
			return exit.Usagef("%q is not NAME=VALUE with a number above 0, as in n=1000:run.slt", part)
		}
		if err := d.SetParameter(name, x); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

// openOne reads one input, and says whether it is of runs, and whether these have parameters of a campaign.
func (o *DataOptions) openOne(ctx context.Context, a *env.Env, path string) (d *dataset.Dataset, records []provenance.Input, isRun,
	placed bool, err error) {
	traces := TracesOf(path, o.format)
	var planned []string // runs of a campaign
	if o.format == "" && campaign.IsDir(path) {
		if traces, planned, path, err = o.campaignRuns(a, path); err != nil {
			return nil, nil, false, false, err
		}
	} else if len(traces) > 0 {
		warnOfOthers(a, path, traces)
		warnOfLost(a, path, traces)
	}
	if len(traces) > 0 {
		if d, records, placed, err = o.analyzeRuns(ctx, a, traces); err == nil {
			plan(d, planned)
		}
		return d, records, true, placed, err
	}
	d, records, err = input.OpenDataset(ctx, []string{path}, input.DatasetOptions{
		Stdin: a.Stdin, Options: dataset.Options{Format: o.format, SumLocations: o.sum},
	})
	if err == nil {
		plan(d, planned)
	}
	return d, records, len(records) == 1 && dataset.IsRuns(records[0].Kind), false, err
}

// plan notes the points of the runs of a campaign, where there should be measurements.
func plan(d *dataset.Dataset, runs []string) {
	var names []string
	var points [][]float64
	for _, run := range runs {
		var of []string
		var at []float64
		for _, v := range campaign.PointOf(run) {
			of, at = append(of, v.Name), append(at, v.Value)
		}
		if !slices.Equal(of, names) { // of another start of the campaign
			d.Plan(names, points)
			names, points = of, nil
		}
		points = append(points, at)
	}
	d.Plan(names, points)
}

// campaignRuns are the recorded runs of a campaign, or, if it recorded none, the dataset that was collected; planned are the directories of
// all runs that were started.
func (o *DataOptions) campaignRuns(a *env.Env, dir string) (traces, planned []string, data string, err error) {
	runs, failed, err := campaign.FinishedRuns(dir)
	planned = slices.Concat(runs, failed)
	if len(failed) > 0 {
		a.Warn("%s: %d of %s did not end well and are left out, the first is %s", dir, len(failed), phrase.Plural(len(planned), "run"),
			filepath.Base(failed[0]))
	}
	without := 0
	for _, run := range runs {
		found := TracesOf(run, "")
		if len(found) == 0 {
			without++
		}
		traces = append(traces, found...)
	}
	if len(traces) == 0 {
		if data = filepath.Join(dir, CampaignDataset); FileExists(data) {
			return nil, planned, data, nil
		}
		if err != nil {
			return nil, nil, "", err
		}
		return nil, nil, "", fmt.Errorf("%s: the campaign has %s that ended well, none with a recorded run, and no %s; collect what they "+
			"measured with 'slackline campaign collect'",
			dir, phrase.Plural(len(runs), "run"), CampaignDataset)
	}
	if err != nil {
		return nil, nil, "", err
	}
	if without > 0 {
		a.Warn("%s: %d of the %s that ended well have no trace and are left out", dir, without, phrase.Plural(len(runs), "run"))
	}
	return traces, planned, "", nil
}

// TracesOf are the recorded runs of an input: itself, or those in a directory.
func TracesOf(path, format string) []string {
	if format != "" {
		return nil
	}
	if input.IsTrace(path) {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if inner := filepath.Join(path, e.Name()); !strings.HasPrefix(e.Name(), ".") && input.IsTrace(inner) {
			list = append(list, inner)
		}
	}
	return list
}

// warnOfOthers names the files with measurements that are left out because runs are beside them.
func warnOfOthers(a *env.Env, dir string, traces []string) {
	parts := map[string]bool{} // of traces: files and directories
	for _, t := range traces {
		parts[t], parts[strings.TrimSuffix(t, filepath.Ext(t))] = t != dir, t != dir
	}
	var others []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read was not dropped
		switch {
		case err != nil || parts[path] || path != dir && strings.HasPrefix(d.Name(), "."):
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && path != dir:
			if head, err := input.Head(path); err == nil {
				if _, known := dataset.Sniff(head); known {
					others = append(others, path)
				}
			}
		}
		return nil
	})
	if len(others) > 0 {
		more := ""
		if n := len(others); n > maxNamed {
			more = fmt.Sprintf(" and %d more", n-maxNamed)
		}
		a.Warn("%s: read as %s; left out are other measurements in it: %s%s; to read them, give these files", dir,
			phrase.Plural(len(traces), "recorded run"), strings.Join(others[:min(len(others), maxNamed)], ", "), more)
	}
}

// warnOfLost names what looks like a run beside others, but is none: an empty directory of a recording, a link to nothing; and directories
// with runs of their own.
func warnOfLost(a *env.Env, dir string, traces []string) {
	if slices.Contains(traces, dir) {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it was read a moment ago
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || slices.Contains(traces, path) {
			continue
		}
		_, err := os.Stat(path)
		switch {
		case err != nil:
			a.Warn("%s cannot be read and is left out: is a run missing?", path)
		case filepath.Ext(path) == ".slt":
			a.Warn("%s holds no recorded run, although its name is that of one, and is left out", path)
		case len(TracesOf(path, "")) > 0:
			a.Warn("%s holds recorded runs, too, which are left out; to read them, give this directory", path)
		}
	}
}

// maxNamed is how many files a warning names.
const maxNamed = 5

// analyzeRuns makes a dataset of recorded runs. One is in memory at a time.
// Those of a campaign have its parameters.
func (o *DataOptions) analyzeRuns(ctx context.Context, a *env.Env, traces []string) (all *dataset.Dataset, records []provenance.Input,
	placed bool, err error) {
	all = dataset.New()
	line := a.StartProgress()
	defer line.Clear()
	for i, path := range traces {
		line.Report(func() string { return fmt.Sprintf("run %d of %d: %s", i+1, len(traces), path) })
		in, err := input.OpenTrace(ctx, path, input.TraceOptions{Hash: true, Partial: o.partial})
		if err != nil {
			return nil, nil, false, err
		}
		a.WarnAll(in.Warnings)
		scenario.WarnOfProblems(a, in.Timeline)
		part := in.Timeline.Core(runtime.GOMAXPROCS(0), true)
		a.WarnAll(part.Circumstances())
		found, err := waits.Analyze(ctx, part, waits.Options{Threads: runtime.GOMAXPROCS(0)})
		if err != nil {
			return nil, nil, false, fmt.Errorf("%s: %w", path, err)
		}
		run := RunDataset(found)
		run.Of(missing.Run{Name: path, Parts: found.Missing()})
		if o.sum {
			run.SumRanks()
		}
		point := campaign.PointOf(path)
		placed = placed || len(point) > 0
		if err := setPoint(a, path, run, point); err != nil {
			return nil, nil, false, err
		}
		all.Merge(run)
		records = append(records, in.Record)
	}
	return all, records, placed, nil
}

// setPoint gives a run the parameters of its campaign. Its number of ranks is p already; what the campaign calls so counts.
func setPoint(a *env.Env, path string, run *dataset.Dataset, point []campaign.Value) error {
	for _, q := range slices.Backward(point) { // each becomes the first
		if i := slices.Index(run.Parameters, q.Name); i >= 0 {
			if ranks := run.Series[0].Points[0].At[i]; ranks != q.Value {
				a.Warn("%s: a run of %g ranks at %s = %g of its campaign", path, ranks, q.Name, q.Value)
			}
			run.DropParameter(i)
		}
		if err := run.SetParameter(q.Name, q.Value); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// RunDataset are the metrics of a run by call path.
func RunDataset(found *waits.Result) *dataset.Dataset {
	tl := found.Timeline
	p := found.Profile()
	sums := make([]map[string]float64, found.Paths.Len())
	for i := range p.ByPath {
		e := &p.ByPath[i]
		sums[e.Path] = map[string]float64{
			"time": e.Exclusive.InSeconds(), "waiting": 0, "delay": 0, "messages": float64(e.Sent.Count),
			"bytes": float64(e.Sent.Bytes + e.Collective.Bytes),
		}
		if p.Counted(e) {
			sums[e.Path]["visits"] = float64(e.Visits)
		}
	}
	add := func(path int32, metric string, s unit.Sum) {
		if sums[path] == nil {
			sums[path] = map[string]float64{}
		}
		sums[path][metric] += s.InSeconds()
	}
	for _, w := range found.WaitTimes() {
		if !w.Unknown { // whether time that was not analyzed is waiting is not known
			add(w.Path, "waiting", w.Time)
		}
	}
	for i := range found.Delays {
		add(found.Delays[i].Path, "delay", found.Delays[i].Sum())
	}
	var paths []dataset.RunPath
	for i, m := range sums {
		if m != nil {
			paths = append(paths, dataset.RunPath{Name: found.Paths.Names[i], Measured: m})
		}
	}
	start := tl.MPIStart() // less than 1 %, or it was left out
	return dataset.FromRun(tl.Ranks, len(tl.RanksRead()), unit.SumOf(tl.End-tl.Start-start.Before-start.After).InSeconds(), paths)
}

// dropZeros removes what never happened in any run, such as messages of call paths that send none, and
// warns of what happened in some only, which no model can describe.
func (o *DataOptions) dropZeros(a *env.Env, d *dataset.Dataset) {
	some, first := 0, ""
	d.Keep(func(s *dataset.Series) bool {
		zeros, values := 0, 0
		for _, p := range s.Points {
			for _, v := range p.Values {
				if values++; v == 0 {
					zeros++
				}
			}
		}
		if o.KeepZeros {
			return zeros < values
		}
		if zeros > 0 && zeros < values {
			if some++; some == 1 {
				first = s.Name()
			}
		}
		return zeros == 0
	})
	if some > 0 {
		more := ""
		if some > 1 {
			more = fmt.Sprintf("; so are %d others", some-1)
		}
		a.Warn("%s is 0 in some runs and not in others, and is left out%s", first, more)
	}
}
