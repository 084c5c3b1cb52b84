package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/unit"
)

// epochRun lets each rank make one call for each of its records, call k from 10k to 10k+5; so calls and records have equal numbers.
// Window 0 is one of all ranks, window 1 has them in reverse.
func epochRun(records ...[]WindowRecord) *Timeline {
	b := NewBuilder(len(records))
	call := b.Region(Region{Name: "MPI_Win_call", Paradigm: MPI, Role: OneSided})
	var world, reversed []int32
	for i := range int32(len(records)) {
		world, reversed = append(world, i), append(reversed, int32(len(records))-1-i)
	}
	b.Window(Object{Name: "w0", Comm: b.Comm(Comm{Members: world})})
	b.Window(Object{Name: "w1", Comm: b.Comm(Comm{Members: reversed})})
	for rank, list := range records {
		l := b.Location(rank, 0, "", "")
		for k, r := range list {
			l.Enter(unit.Duration(10*k), call)
			l.OneSided(unit.Duration(10*k+1), r)
			l.Leave(unit.Duration(10*k + 5))
		}
	}
	return b.Finish(2)
}

// Records as programs make them.
func start(window int32, group ...int32) WindowRecord {
	return WindowRecord{Kind: WinStart, Window: window, Group: group}
}
func post(window int32, group ...int32) WindowRecord {
	return WindowRecord{Kind: WinPost, Window: window, Group: group}
}
func complete(window int32) WindowRecord { return WindowRecord{Kind: WinComplete, Window: window} }
func wait(window int32) WindowRecord     { return WindowRecord{Kind: WinWait, Window: window} }
func put(window, target int32, bytes int64) WindowRecord {
	return WindowRecord{Kind: WinAccess, Window: window, Target: target, Sent: bytes}
}
func lock(target int32, exclusive bool) WindowRecord {
	return WindowRecord{Kind: WinLock, Target: target, Flag: exclusive}
}
func unlock(target int32) WindowRecord { return WindowRecord{Kind: WinUnlock, Target: target} }
func flush(target int32, local bool) WindowRecord {
	return WindowRecord{Kind: WinFlush, Target: target, Flag: local}
}

// at is call k of a rank of epochRun.
func at(k int32) EpochCall { return EpochCall{k, k} }

// calls are several of them.
func calls(numbers ...int32) (list []EpochCall) {
	for _, k := range numbers {
		list = append(list, at(k))
	}
	return list
}

// TestAccessAndExposureEpochs: the k-th access epoch to a target belongs with its k-th exposure epoch to the origin.
func TestAccessAndExposureEpochs(t *testing.T) {
	none := EpochCall{-1, -1}
	for _, c := range []struct {
		name      string
		records   [][]WindowRecord
		accesses  []AccessEpoch
		exposures []ExposureEpoch
	}{
		{"one origin, one target", [][]WindowRecord{{start(0, 1), put(0, 1, 8), complete(0)}, {post(0, 0), wait(0)}},
			[]AccessEpoch{{Location: 0, Start: at(0), Complete: at(2), Operations: []Operation{{at(1), 1}}, Exposures: []int32{0}}},
			[]ExposureEpoch{{Location: 1, Post: at(0), Wait: at(1), Accesses: []int32{0}}}},
		{"twice", [][]WindowRecord{{start(0, 1), complete(0), start(0, 1), complete(0)}, {post(0, 0), wait(0), post(0, 0), wait(0)}},
			[]AccessEpoch{{Start: at(0), Complete: at(1), Exposures: []int32{0}}, {Start: at(2), Complete: at(3), Exposures: []int32{1}}},
			[]ExposureEpoch{{Location: 1, Post: at(0), Wait: at(1), Accesses: []int32{0}},
				{Location: 1, Post: at(2), Wait: at(3), Accesses: []int32{1}}}},
		{"two targets, of which the first posts twice", [][]WindowRecord{
			{post(0, 2), wait(0), post(0, 2), wait(0)}, {post(0, 2), wait(0)}, {start(0, 1, 0), complete(0), start(0, 0), complete(0)}},
			[]AccessEpoch{{Location: 2, Start: at(0), Complete: at(1), Exposures: []int32{2, 0}},
				{Location: 2, Start: at(2), Complete: at(3), Exposures: []int32{1}}},
			[]ExposureEpoch{{Location: 0, Post: at(0), Wait: at(1), Accesses: []int32{0}},
				{Location: 0, Post: at(2), Wait: at(3), Accesses: []int32{1}}, {Location: 1, Post: at(0), Wait: at(1), Accesses: []int32{0}}}},
		{"never completed", [][]WindowRecord{{start(0, 1)}, {post(0, 0)}},
			[]AccessEpoch{{Start: at(0), Complete: none, Exposures: []int32{0}}},
			[]ExposureEpoch{{Location: 1, Post: at(0), Wait: none, Accesses: []int32{0}}}},
		{"completed without a start", [][]WindowRecord{{complete(0), wait(0)}, {}}, nil, nil},
		{"nobody posts", [][]WindowRecord{{start(0, 1), complete(0)}, {}}, []AccessEpoch{{Start: at(0), Complete: at(1)}}, nil},
		{"to itself", [][]WindowRecord{{post(0, 0), start(0, 0), complete(0), wait(0)}},
			[]AccessEpoch{{Start: at(1), Complete: at(2)}}, []ExposureEpoch{{Post: at(0), Wait: at(3)}}},
		{"ranks of the window, not of the world", [][]WindowRecord{{start(1, 0), put(1, 0, 1), complete(1)}, {post(1, 1), wait(1)}},
			[]AccessEpoch{{Window: 1, Start: at(0), Complete: at(2), Operations: []Operation{{at(1), 1}}, Exposures: []int32{0}}},
			[]ExposureEpoch{{Location: 1, Window: 1, Post: at(0), Wait: at(1), Accesses: []int32{0}}}},
		{"other windows do not match", [][]WindowRecord{{start(0, 1), complete(0)}, {post(1, 1), wait(1)}},
			[]AccessEpoch{{Start: at(0), Complete: at(1)}}, []ExposureEpoch{{Location: 1, Window: 1, Post: at(0), Wait: at(1)}}},
		{"what moves nothing and what goes nowhere is no operation",
			[][]WindowRecord{{start(0, 1), put(0, 1, 0), put(0, 1, -5), put(0, 7, 1), put(1, 0, 1), complete(0)}, {}},
			[]AccessEpoch{{Start: at(0), Complete: at(5)}}, nil},
		{"ranks and windows that do not exist", [][]WindowRecord{{start(0, 9, -1), complete(0), start(5, 0), complete(5)}, {}},
			[]AccessEpoch{{Start: at(0), Complete: at(1)}, {Window: 5, Start: at(2), Complete: at(3)}}, nil},
		{"a rank that is named twice", [][]WindowRecord{{start(0, 1, 1), complete(0)}, {post(0, 0), post(0, 0)}},
			[]AccessEpoch{{Start: at(0), Complete: at(1), Exposures: []int32{0}}},
			[]ExposureEpoch{{Location: 1, Post: at(0), Wait: none, Accesses: []int32{0}}, {Location: 1, Post: at(1), Wait: none}}},
	} {
		e := epochRun(c.records...).Epochs
		if diff := gocmp.Diff(c.accesses, e.Accesses, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: access epochs (-want +got):\n%s", c.name, diff)
		}
		if diff := gocmp.Diff(c.exposures, e.Exposures, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: exposure epochs (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestOrderOfPartners: the accesses of an exposure epoch are in the order of their locations, however the target names its origins; the
// exposures of an access epoch in the order in which the origin names its targets.
func TestOrderOfPartners(t *testing.T) {
	e := epochRun([]WindowRecord{post(0, 2, 1, 3), wait(0)}, []WindowRecord{start(0, 0), complete(0)},
		[]WindowRecord{start(0, 0), complete(0)}, []WindowRecord{start(0, 0), complete(0)}).Epochs
	if got, want := e.Exposures[0].Accesses, []int32{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("accesses of origins 2, 1, 3 = %v, want %v", got, want)
	}
	e = epochRun([]WindowRecord{start(0, 2, 1, 3), complete(0)}, []WindowRecord{post(0, 0), wait(0)},
		[]WindowRecord{post(0, 0), wait(0)}, []WindowRecord{post(0, 0), wait(0)}).Epochs
	if got, want := e.Accesses[0].Exposures, []int32{1, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("exposures of targets 2, 1, 3 = %v, want %v", got, want)
	}
}

// TestLockEpochs: an epoch has its lock, the accesses and the flushes that complete something, and its unlock.
func TestLockEpochs(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    []WindowRecord // of rank 0, of three
		other []WindowRecord // of rank 1
		want  []LockEpoch
	}{
		{name: "shared", of: []WindowRecord{lock(2, false), put(0, 2, 8), unlock(2)},
			want: []LockEpoch{{Target: 2, Accesses: true, Calls: calls(0, 1, 2)}}},
		{name: "exclusive, without an access", of: []WindowRecord{lock(2, true), unlock(2)},
			want: []LockEpoch{{Target: 2, Exclusive: true, Calls: calls(0, 1)}}},
		{name: "never unlocked", of: []WindowRecord{lock(2, true), put(0, 2, 8)}},
		{name: "never locked", of: []WindowRecord{put(0, 2, 8), unlock(2)}},
		{name: "a flush without anything pending", of: []WindowRecord{lock(2, false), flush(2, false), put(0, 2, 0), flush(2, false), unlock(2)},
			want: []LockEpoch{{Target: 2, Calls: calls(0, 4)}}},
		{name: "the second flush has nothing left", of: []WindowRecord{lock(2, false), put(0, 2, 8), flush(2, false), flush(2, false), unlock(2)},
			want: []LockEpoch{{Target: 2, Accesses: true, Calls: calls(0, 1, 2, 4)}}},
		{name: "after a local flush something is left at the target",
			of:   []WindowRecord{lock(2, false), put(0, 2, 8), flush(2, true), flush(2, false), unlock(2)},
			want: []LockEpoch{{Target: 2, Accesses: true, Calls: calls(0, 1, 2, 3, 4)}}},
		{name: "a flush of another target", of: []WindowRecord{lock(2, false), put(0, 2, 8), flush(1, false), unlock(2)},
			want: []LockEpoch{{Target: 2, Accesses: true, Calls: calls(0, 1, 3)}}},
		{name: "a flush of all", of: []WindowRecord{lock(1, false), lock(2, false), put(0, 2, 8), flush(AllTargets, false), unlock(1), unlock(2)},
			want: []LockEpoch{{Target: 1, Calls: calls(0, 4)}, {Target: 2, Accesses: true, Calls: calls(1, 2, 3, 5)}}},
		{name: "lock_all has an epoch at each target that it accesses",
			of: []WindowRecord{lock(AllTargets, false), put(0, 2, 8), put(0, 0, 8), flush(2, false), unlock(AllTargets)},
			want: []LockEpoch{{Target: 0, All: true, Accesses: true, Calls: calls(0, 2, 4)},
				{Target: 2, All: true, Accesses: true, Calls: calls(0, 1, 3, 4)}}},
		{name: "and at each that another one locks exclusively", of: []WindowRecord{lock(AllTargets, false), unlock(AllTargets)},
			other: []WindowRecord{lock(2, true), unlock(2), lock(1, false), unlock(1)},
			want: []LockEpoch{{Location: 1, Target: 1, Calls: calls(2, 3)}, {Target: 2, All: true, Calls: calls(0, 1)},
				{Location: 1, Target: 2, Exclusive: true, Calls: calls(0, 1)}}},
		{name: "lock_all is never exclusive", of: []WindowRecord{lock(AllTargets, true), put(0, 1, 1), unlock(AllTargets)},
			want: []LockEpoch{{Target: 1, All: true, Accesses: true, Calls: calls(0, 1, 2)}}},
		{name: "by target, then by origin, then by order",
			of:    []WindowRecord{lock(1, false), unlock(1), lock(0, false), unlock(0), lock(1, true), unlock(1)},
			other: []WindowRecord{lock(0, false), unlock(0)},
			want: []LockEpoch{{Target: 0, Calls: calls(2, 3)}, {Location: 1, Target: 0, Calls: calls(0, 1)}, {Target: 1, Calls: calls(0, 1)},
				{Target: 1, Exclusive: true, Calls: calls(4, 5)}}},
		{name: "a flush of all does not concern what MPI_Win_complete completed",
			of: []WindowRecord{start(0, 2), put(0, 2, 8), complete(0), lock(AllTargets, false), put(0, 1, 8), flush(AllTargets, false),
				unlock(AllTargets)},
			other: []WindowRecord{lock(2, true), unlock(2)},
			want: []LockEpoch{{Target: 1, All: true, Accesses: true, Calls: calls(3, 4, 5, 6)}, {Target: 2, All: true, Calls: calls(3, 6)},
				{Location: 1, Target: 2, Exclusive: true, Calls: calls(0, 1)}}},
		{name: "a target that does not exist", of: []WindowRecord{lock(3, true), put(0, 3, 8), unlock(3)}},
	} {
		e := epochRun(c.of, c.other, nil).Epochs
		if diff := gocmp.Diff(c.want, e.Locks, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: lock epochs (-want +got):\n%s", c.name, diff)
		}
		if len(e.Records) != len(c.of)+len(c.other) {
			t.Errorf("%s: %d records, want %d", c.name, len(e.Records), len(c.of)+len(c.other))
		}
	}
}

// TestRecordsOutsideOfCallsAreLeftOut: windows are a matter of masters, and records of calls.
func TestRecordsOutsideOfCallsAreLeftOut(t *testing.T) {
	b := NewBuilder(1)
	call := b.Region(Region{Name: "MPI_Put"})
	b.Window(Object{Comm: b.Comm(Comm{Members: []int32{0}})})
	master, other := b.Location(0, 0, "", ""), b.Location(0, 1, "", "")
	master.OneSided(1, lock(0, true))
	other.Enter(1, call)
	other.OneSided(2, lock(0, true))
	other.Leave(3)
	master.Enter(4, call)
	master.OneSided(5, WindowRecord{Kind: WinAccess, Sent: -8, Received: -8})
	master.Leave(6)
	tl := b.Finish(1)
	want := []WindowRecord{{Kind: WinAccess, EpochCall: EpochCall{0, 1}}}
	if diff := gocmp.Diff(want, tl.Epochs.Records); diff != "" || tl.Epochs.Records[0].Moves() {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if want := []string{"1 records outside of any call, left out (on rank 0)"}; !slices.Equal(tl.Problems.Notes, want) {
		t.Errorf("notes = %q, want %q", tl.Problems.Notes, want)
	}
}

// TestEpochsOfAWindow: epochs are kept if all their calls are inside; those that are kept lose partners and operations that are not.
func TestEpochsOfAWindow(t *testing.T) {
	tl := epochRun(
		[]WindowRecord{start(0, 1, 2), put(0, 1, 8), complete(0), lock(1, true), put(0, 1, 8), unlock(1)},
		[]WindowRecord{post(0, 0), wait(0)},
		[]WindowRecord{post(0, 0), put(0, 0, 0), put(0, 0, 0), wait(0)})
	if diff := gocmp.Diff(tl.Epochs, tl.Window(-1, 1000, 1).Epochs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a window around everything (-all +window):\n%s", diff)
	}
	w := tl.Window(0, 25, 1).Epochs // without the wait of rank 2 and the lock of rank 0
	if len(w.Accesses) != 1 || !slices.Equal(w.Accesses[0].Exposures, []int32{0}) || len(w.Exposures) != 1 || w.Exposures[0].Location != 1 ||
		!slices.Equal(w.Exposures[0].Accesses, []int32{0}) || len(w.Locks) != 0 || len(w.Records) != 8 {
		t.Errorf("up to the wait of rank 2: %+v", w)
	}
	w = tl.Window(25, 100, 1).Epochs // the lock alone, under new numbers of its calls
	want := Epochs{Locks: []LockEpoch{{Target: 1, Exclusive: true, Accesses: true,
		Calls: []EpochCall{{0, 3}, {1, 4}, {2, 5}}}}}
	w.Records = nil
	if diff := gocmp.Diff(want, w, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("from the lock on (-want +got):\n%s", diff)
	}
}

// TestLockEpochsAreThoseOfTheDefinition compares random records of one rank with the definition of a lock epoch, read literally.
func TestLockEpochsAreThoseOfTheDefinition(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		var list []WindowRecord
		for range random.IntN(12) {
			target := int32(random.IntN(2))
			list = append(list, [...]WindowRecord{lock(target, random.IntN(2) == 0), unlock(target), put(0, target, int64(random.IntN(2))),
				flush(target, random.IntN(2) == 0), flush(AllTargets, random.IntN(2) == 0)}[random.IntN(5)])
		}
		var want []LockEpoch
		for target := range int32(2) {
			var open *LockEpoch
			pending := false
			for k, r := range list {
				here := r.Target == target || r.Target == AllTargets
				if !here {
					continue
				}
				switch call := at(int32(k)); {
				case r.Kind == WinLock: // a lock that was never released is none
					open = &LockEpoch{Target: target, Exclusive: r.Flag, Calls: []EpochCall{call}}
				case r.Kind == WinUnlock:
					if open != nil {
						open.Calls = append(open.Calls, call)
						want = append(want, *open)
					}
					open, pending = nil, false
				case r.Kind == WinAccess && r.Sent > 0:
					if open != nil { // else something else completes it
						open.Calls, open.Accesses, pending = append(open.Calls, call), true, true
					}
				case r.Kind == WinFlush && pending:
					pending = r.Flag
					if open != nil {
						open.Calls = append(open.Calls, call)
					}
				}
			}
		}
		if diff := gocmp.Diff(want, epochRun(list, nil).Epochs.Locks, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: lock epochs of %+v (-want +got):\n%s", seed, list, diff)
		}
	}
}
