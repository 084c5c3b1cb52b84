package waits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// watchedFS notes which files are opened.
type watchedFS struct {
	fs.FS
	mu     *sync.Mutex
	opened map[string]map[int]bool // by file: processes
	rank   int
}

func (w *watchedFS) Open(name string) (fs.File, error) {
	w.mu.Lock()
	if w.opened[name] == nil {
		w.opened[name] = map[int]bool{}
	}
	w.opened[name][w.rank] = true
	w.mu.Unlock()
	return w.FS.Open(name)
}

// read reads a trace, or a part of it, and asks all questions.
func read(ctx context.Context, g cluster.Group, fsys fs.FS, name string, o trace.TimelineOptions, strict bool) (map[string]any, error) {
	tr, err := trace.OpenPart(ctx, g, fsys, name, trace.Options{Strict: strict})
	if err != nil {
		return nil, err
	}
	if tr.Close != nil {
		defer tr.Close()
	}
	o.Clocks, o.Strict = &trace.ClockReport{}, strict
	tl, err := trace.ToTimelinePart(ctx, g, tr, o)
	if err != nil {
		return nil, err
	}
	all, err := answer(ctx, tl, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	all["warnings"], all["problems"], all["clocks"], all["grid"] = tr.Warnings, tl.Problems, *o.Clocks, tl.Grid
	all["bounds"], all["command"] = []unit.Duration{tl.Start, tl.End}, tr.Command
	return all, nil
}

// readTogether lets several processes read a trace and returns what the first one says.
func readTogether(t *testing.T, size int, dir, name string, o trace.TimelineOptions) (map[string]any, map[string]map[int]bool) {
	t.Helper()
	var got map[string]any
	opened := map[string]map[int]bool{}
	var mu sync.Mutex
	for p, err := range together(size, func(g cluster.Group) error {
		said, err := read(context.Background(), g, &watchedFS{os.DirFS(dir), &mu, opened, g.Rank()}, name, o, false)
		if g.Rank() == 0 {
			got = said
		}
		return err
	}) {
		if err != nil {
			t.Fatalf("%d processes: process %d: %v", size, p, err)
		}
	}
	return got, opened
}

// sameTogether checks that a trace gives the same result however many processes read it.
func sameTogether(t *testing.T, dir, name string, o trace.TimelineOptions, sizes ...int) map[string]any {
	t.Helper()
	want, err := read(context.Background(), cluster.Alone(), os.DirFS(dir), name, o, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		o.Threads = 1 + size%3
		got, opened := readTogether(t, size, dir, name, o)
		if diff := difference(want, got); diff != "" {
			t.Fatalf("%d processes (-one +several):\n%s", size, diff)
		}
		if o.Ranks != nil {
			continue // files are looked at and read by different processes then
		}
		for file, processes := range opened {
			if len(processes) > 1 {
				t.Errorf("%d processes: %s is read by %d of them", size, file, len(processes))
			}
		}
	}
	return want
}

// TestCasesTogether reads the reference cases in several ways.
func TestCasesTogether(t *testing.T) {
	needed.Full(t, "long runs")
	for _, file := range caseTraces(t) {
		dir, name := filepath.Split(file)
		if name != "traces.otf2" {
			continue // a text is read by one process
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			whole := sameTogether(t, dir, "traces.otf2", trace.TimelineOptions{}, 2, 3, 4, 8)["bounds"].([]unit.Duration)
			length := whole[1] - whole[0]
			for _, o := range []trace.TimelineOptions{
				{Clock: trace.ClockControl, Latency: unit.Microsecond}, {Clock: trace.ClockNone},
				{Begin: length / 4}, {End: length / 2}, {Begin: length / 5, End: length * 4 / 5},
				{Ranks: []int{0, 1}}, {Ranks: []int{1}},
			} {
				if filepath.Base(dir) == "13-omp-barrier" && o.Ranks != nil {
					continue // it has one rank
				}
				sameTogether(t, dir, "traces.otf2", o, 3, 8)
			}
		})
	}
}

// writeTrace writes a random run as a trace of slackline and returns its directory.
func writeTrace(t *testing.T, tl *timeline.Timeline) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := trace.Write(filepath.Join(dir, "run.slt"), trace.FromTimeline(tl), "slt", trace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTracesTogether writes random runs, some with wrong clocks, and reads them in several ways.
func TestTracesTogether(t *testing.T) {
	moved, contradictions := 0, 0
	for seed := range runs() / 40 {
		dir := writeTrace(t, randomRun(seed))
		for _, o := range []trace.TimelineOptions{
			{}, {Clock: trace.ClockControl, Latency: 1000}, {Clock: trace.ClockControl, Begin: 20000, End: 90000},
		} {
			said := sameTogether(t, dir, "run.slt", o, 2, 3, 4, 8)
			if said["clocks"].(trace.ClockReport).Moved > 0 {
				moved++
			}
			for _, note := range said["problems"].(timeline.Problems).Notes {
				if strings.Contains(note, "contradicts") {
					contradictions++
				}
			}
		}
	}
	if moved == 0 {
		t.Error("no clock was corrected")
	}
	t.Logf("%d runs with corrected clocks, %d with contradictions", moved, contradictions)
}

// damage cuts a file in half.
func damage(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamageTogether reads traces of which something is missing.
func TestDamageTogether(t *testing.T) {
	needed.Full(t, "long runs")
	for seed := uint64(4); seed < 40; seed += 8 {
		for _, harm := range []func(file string){
			func(file string) { damage(t, file) },
			func(file string) { _ = os.Remove(file) },
			func(file string) { // something in the middle
				data, _ := os.ReadFile(file)
				data[len(data)*2/3] ^= 0x55
				_ = os.WriteFile(file, data, 0o600)
			},
		} {
			dir := writeTrace(t, randomRun(seed))
			harm(filepath.Join(dir, "run.slt", "1-0.slt"))
			sameTogether(t, dir, "run.slt", trace.TimelineOptions{Partial: true}, 2, 3, 4, 8)
		}
	}
}

// TestOneProcessFails checks that the others end.
func TestOneProcessFails(t *testing.T) {
	dir := writeTrace(t, randomRun(7))
	file := filepath.Join(dir, "run.slt", "1-0.slt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)*2/3] ^= 0x55
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for p, err := range together(2, func(g cluster.Group) error {
		_, err := read(context.Background(), g, os.DirFS(dir), "run.slt", trace.TimelineOptions{}, true)
		return err
	}) {
		switch {
		case err == nil:
			t.Errorf("process %d: no error", p)
		case errors.Is(err, cluster.ErrBroken):
		case strings.Contains(err.Error(), "1-0.slt") && strings.Contains(err.Error(), "rank 1"):
			failed++
		default:
			t.Errorf("process %d: %v", p, err)
		}
	}
	if failed != 1 {
		t.Errorf("%d processes name the file, want 1", failed)
	}
}

// TestCancelledTogether checks that an interrupt ends all processes.
func TestCancelledTogether(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := writeTrace(t, randomRun(7))
	for p, err := range together(3, func(g cluster.Group) error {
		_, err := read(ctx, g, os.DirFS(dir), "run.slt", trace.TimelineOptions{}, false)
		return err
	}) {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, cluster.ErrBroken) {
			t.Errorf("process %d: %v, want that it was interrupted", p, err)
		}
	}
}

// TestOtherFormatsTogether checks that a trace in one file is left to one process.
func TestOtherFormatsTogether(t *testing.T) {
	for p, err := range together(2, func(g cluster.Group) error {
		_, err := trace.OpenPart(context.Background(), g, os.DirFS("../../testdata/traces"), "late-sender.trace", trace.Options{})
		if errors.Is(err, trace.ErrOneReader) {
			return nil
		}
		return fmt.Errorf("error = %w, want %w", err, trace.ErrOneReader)
	}) {
		if err != nil {
			t.Errorf("process %d: %v", p, err)
		}
	}
}

// brokenGroup is a group that breaks at an exchange.
type brokenGroup struct {
	cluster.Group
	left int // exchanges before that
}

func (g *brokenGroup) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if g.left--; g.left < 0 {
		return nil, cluster.ErrBroken
	}
	return g.Group.Exchange(ctx, out)
}

// TestBrokenWhileOpening checks that a process whose partner fails says so, wherever that happens, and does not read on alone.
func TestBrokenWhileOpening(t *testing.T) {
	archive := os.DirFS("../../testdata/waits/cases/01-figure3")
	for name, fsys := range map[string]fs.FS{"run.slt": os.DirFS(writeTrace(t, randomRun(7))), "traces.otf2": archive} {
		for left, opened := 0, false; !opened && left < 100; left++ {
			errs := together(2, func(g cluster.Group) error {
				if g.Rank() == 1 {
					g = &brokenGroup{g, left}
				}
				_, err := trace.OpenPart(context.Background(), g, fsys, name, trace.Options{})
				return err
			})
			opened = errs[0] == nil && errs[1] == nil
			if !opened && !errors.Is(errs[1], cluster.ErrBroken) {
				t.Errorf("%s: broken at exchange %d: %v, want %v", name, left, errs[1], cluster.ErrBroken)
			}
		}
	}
}
