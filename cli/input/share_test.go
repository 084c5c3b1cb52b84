package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// evenly gives a process every n-th rank or, if inRanges, its range of them.
func evenly(size int, inRanges bool) func(ranks, process int) (func(rank int) bool, error) {
	return func(ranks, process int) (func(rank int) bool, error) {
		return func(rank int) bool {
			if inRanges {
				return cluster.Owner(ranks, rank, size) == process
			}
			return rank%size == process
		}, nil
	}
}

// openTogether opens an input on goroutines that stand for processes. Only process 0 has a standard input.
func openTogether(ctx context.Context, word, stdin string, size int,
	ranks func(ranks, process int) (func(rank int) bool, error)) ([]*Input, error) {
	inputs, errs := make([]*Input, size), make([]error, size)
	var wg sync.WaitGroup
	for i, member := range cluster.Local(size) {
		wg.Go(func() {
			o := Options{Params: pattern.Params{Ranks: 20}, Hash: true, Share: &Share{Group: member, Ranks: ranks}}
			if i == 0 {
				o.Stdin = strings.NewReader(stdin)
			}
			if o.Kinds, errs[i] = FindKinds(ctx, member, word); errs[i] == nil {
				inputs[i], errs[i] = Open(ctx, word, o)
			}
			if errs[i] != nil {
				member.Break()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, cluster.ErrBroken) {
			return nil, err
		}
	}
	return inputs, errors.Join(errs...)
}

// blocks prints the blocks of a rank.
func blocks(p schedule.Program, rank int) string {
	var out strings.Builder
	var b schedule.Block
	for step := range p.Steps(rank) {
		p.Block(rank, step, &b)
		fmt.Fprintln(&out, b.Ops, b.First, b.Dependents)
	}
	return out.String()
}

// writeInputs writes inputs of all kinds into a working directory of the test, and returns their names.
func writeInputs(t *testing.T) []string {
	t.Helper()
	trace, err := os.ReadFile("../../testdata/traces/late-sender.trace")
	if err != nil {
		t.Fatal(err)
	}
	workdir(t)
	if err := os.WriteFile("late.trace", trace, 0o666); err != nil {
		t.Fatal(err)
	}
	halo, err := pattern.New("halo2d", pattern.Params{Ranks: 20})
	if err != nil {
		t.Fatal(err)
	}
	var slk bytes.Buffer
	if err := schedule.WriteSLK(&slk, halo); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("halo.slk", slk.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"one.goal", "-", "halo.slk", "late.trace", "dissemination"}
}

// Each process gets its ranks, as they are in the whole, and no others, from all kinds of inputs.
func TestOpenShared(t *testing.T) {
	for _, word := range writeInputs(t) {
		whole, err := Open(t.Context(), word, Options{Stdin: strings.NewReader(goal), Params: pattern.Params{Ranks: 20}, Hash: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 2, 3} {
			ranks := evenly(size, size == 2)
			inputs, err := openTogether(t.Context(), word, goal, size, ranks)
			if err != nil {
				t.Fatalf("%s on %d processes: %v", word, size, err)
			}
			if inputs[0].Record != whole.Record {
				t.Errorf("%s on %d processes: record %+v, want %+v", word, size, inputs[0].Record, whole.Record)
			}
			for process, in := range inputs {
				if in.Program.Ranks() != whole.Program.Ranks() || in.Program.Shape() != whole.Program.Shape() ||
					(in.Graph == nil) != (whole.Graph == nil) {
					t.Fatalf("%s, process %d of %d: %+v, want %+v", word, process, size, in, whole)
				}
				has, _ := ranks(whole.Program.Ranks(), process)
				for rank := range whole.Program.Ranks() {
					want := ""
					if has(rank) || !whole.IsFile() || size == 1 {
						want = blocks(whole.Program, rank)
					}
					if got := blocks(in.Program, rank); got != want {
						t.Errorf("%s, process %d of %d, rank %d:\n%swant\n%s", word, process, size, rank, got, want)
					}
				}
			}
		}
	}
}

// All processes get the whole program, of which only process 0 sees the file.
func TestOpenWhole(t *testing.T) {
	for _, word := range writeInputs(t) {
		whole, err := Open(t.Context(), word, Options{Stdin: strings.NewReader(goal), Params: pattern.Params{Ranks: 20}, Hash: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 2, 3, 4, 8} {
			inputs, err := openTogether(t.Context(), word, goal, size, nil)
			if err != nil {
				t.Fatalf("%s on %d processes: %v", word, size, err)
			}
			if inputs[0].Record != whole.Record || inputs[0].Format != whole.Format {
				t.Errorf("%s on %d processes: %+v, want %+v", word, size, inputs[0], whole)
			}
			for process, in := range inputs {
				if (in.Graph == nil) != (whole.Graph == nil) || (in.Replay == nil) != (whole.Replay == nil) || in.Graph != nil && in.Graph.IsPart() {
					t.Fatalf("%s, process %d of %d: %+v, want %+v", word, process, size, in, whole)
				}
				sameBlocks(t, in.Program, whole.Program)
				if whole.Replay == nil {
					continue
				}
				more, err := in.Replay.WithRanks(5 * whole.Replay.Ranks())
				if err != nil {
					t.Fatal(err)
				}
				want, err := whole.Replay.WithRanks(5 * whole.Replay.Ranks())
				if err != nil {
					t.Fatal(err)
				}
				sameBlocks(t, more, want)
			}
		}
	}
}

// sameBlocks fails unless two programs do the same.
func sameBlocks(t *testing.T, got, want schedule.Program) {
	t.Helper()
	if got.Ranks() != want.Ranks() || got.Shape() != want.Shape() {
		t.Fatalf("%d ranks, %+v; want %d, %+v", got.Ranks(), got.Shape(), want.Ranks(), want.Shape())
	}
	for rank := range want.Ranks() {
		if got, want := blocks(got, rank), blocks(want, rank); got != want {
			t.Errorf("rank %d:\n%swant\n%s", rank, got, want)
		}
	}
}

// A pipe can be read once: by process 0, for all.
func TestOpenWholePipe(t *testing.T) {
	workdir(t)
	needed.NoError(t, syscall.Mkfifo("pipe", 0o666))
	go func() {
		if f, err := os.OpenFile("pipe", os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteString(goal)
			_ = f.Close()
		}
	}()
	inputs, err := openTogether(t.Context(), "pipe", "", 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		sameBlocks(t, in.Program, inputs[0].Program)
	}
}

func TestOpenSharedErrors(t *testing.T) {
	workdir(t)
	if err := os.WriteFile("bad.slk", []byte("SLKSCHED and more than the length of a header"), 0o666); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"missing.goal": "missing.goal: no such file",
		"bad.slk":      "bad.slk: byte 0: ",
	} {
		for _, ranks := range []func(ranks, process int) (func(rank int) bool, error){nil, evenly(3, true)} {
			if _, err := openTogether(t.Context(), word, goal, 3, ranks); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error with %q", word, err, want)
			}
		}
	}
	refuse := func(int, int) (func(int) bool, error) { return nil, errors.New("no place for them") }
	for _, word := range []string{"one.goal", "-"} {
		if _, err := openTogether(t.Context(), word, goal, 2, refuse); err == nil || !strings.Contains(err.Error(), "no place") {
			t.Errorf("%s: %v", word, err)
		}
	}
}
