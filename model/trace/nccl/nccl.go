// Package nccl reads what NCCL and PyTorch write about collectives without a profiler: logs of NCCL Inspector and dumps of PyTorch's
// Flight Recorder, one file for each process. How they become a timeline:
//
//   - NCCL Inspector: each collective or message is a kernel, from when to when its slowest channel ran. Operations belong together by
//     communicator, name and number. Its logs name no root: broadcasts and reductions wait for nobody.
//   - Flight Recorder: each operation begins when the host enqueued it, and lasts until the last rank has enqueued it, or as long as was
//     measured. When it ran is not recorded. Who has not come to an operation in which others are is reported as a warning.
//
// Each communicator or process group is a stream. Launches are not known, nor what else devices did: only operations wait, and what
// ranks did before is not known either. Dumps are never unpickled.
package nccl

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"slackline/model/trace/damage"
	"slackline/model/trace/kineto"
)

// operation is a collective or one end of a message.
type operation struct {
	begin, end int64 // ns since 1970
	stream     int   // number of its group in the file
	name       string
	what       kineto.Communication
	group      string
	id         int64 // number in the group
	peer       int64 // rank in the group, -1: none
	done       bool
}

// file is what a process left.
type file struct {
	name, show string
	rank       int
	groups     []group
	ops        []operation
	damage     error
	lost       int64   // operations that cannot be placed
	untimed    int64   // completed operations whose duration is not said
	channels   int64   // of operations, without valid times
	records    []int64 // numbers of the entries of a dump
	finished   bool    // one of them is
}

// group is a communicator or process group as one of its members knows it.
type group struct {
	name  string
	rank  int   // of the process in it, -1: not known
	size  int   // ranks
	ranks []int // of the job, nil: not known
	all   bool  // all ranks of the job are in it
}

// groupAt returns the number of a group in the file, and makes it.
func (f *file) groupAt(name string) int {
	if i := slices.IndexFunc(f.groups, func(g group) bool { return g.name == name }); i >= 0 {
		return i
	}
	f.groups = append(f.groups, group{name: name, rank: -1})
	return len(f.groups) - 1
}

// read reads files in a directory.
func read(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error,
	parse func(f *file, in fs.File) error) ([]*file, error) {
	var files []*file
	for _, name := range names {
		if interrupt != nil {
			if err := interrupt(); err != nil {
				return nil, err
			}
		}
		in, err := fsys.Open(path.Join(dir, name))
		if err != nil {
			return nil, damage.At(show(name), -1, "%v", damage.Reason(err))
		}
		f := &file{name: name, show: show(name), rank: -1}
		f.damage = parse(f, in)
		in.Close()
		if f.damage != nil && len(f.ops) == 0 {
			return nil, f.damage
		}
		files = append(files, f)
	}
	return files, nil
}

// profile makes a profile of files, which are in the order of their ranks.
func profile(files []*file, warnings []string) (*kineto.Profile, error) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	var early, late *file
	for _, f := range files {
		if f.damage != nil {
			warnings = append(warnings, fmt.Sprintf("%v; what is before it is read: %d operations of rank %d", f.damage, len(f.ops), f.rank))
		}
		for i := range f.ops {
			if begin := f.ops[i].begin; begin < first {
				first, early = begin, f
			}
			if end := f.ops[i].end; end > last {
				last, late = end, f
			}
		}
	}
	if late != nil && last-first > kineto.MaxTime {
		return nil, damage.At(late.show, -1, "an operation is %d days after one of %s; are the files damaged, or of two runs?",
			(last-first)/(24*3600*1e9), early.show)
	}
	var ranks []*kineto.Rank
	for _, f := range files {
		r := kineto.NewRank(f.rank, f.show)
		for i := range f.ops {
			op := &f.ops[i]
			r.Communicate(0, int64(op.stream), op.begin-first, op.end-first, op.name, op.what)
		}
		ranks = append(ranks, r)
	}
	p, err := kineto.NewProfile(ranks, false)
	if p != nil {
		p.Warnings = append(warnings, p.Warnings...)
	}
	return p, err
}

// rankList is a list as profiles have it.
func rankList(ranks []int) string {
	return strings.ReplaceAll(fmt.Sprint(ranks), " ", ", ")
}

// setRanks numbers files by what rankOf says of them, and by their names if it is not known of all, or not unique.
func setRanks(files []*file, rankOf func(f *file) int) {
	slices.SortFunc(files, func(x, y *file) int { return cmp.Compare(x.name, y.name) })
	seen := map[int]bool{}
	for i, f := range files {
		f.rank = i
		seen[rankOf(f)] = true
	}
	if len(seen) < len(files) || seen[-1] {
		return
	}
	for _, f := range files {
		f.rank = rankOf(f)
	}
	slices.SortFunc(files, func(x, y *file) int { return cmp.Compare(x.rank, y.rank) })
}

const (
	maxRanks = 1 << 22
	// maxTime is the last time that is taken for one, in ns since 1970.
	maxTime = math.MaxInt64 / 2
)
