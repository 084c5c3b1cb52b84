package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// Scheme is a way to time an operation.
type Scheme string

// The schemes. Round-Time and window let all ranks start at a moment of a common clock and time single executions; the
// others are those of well-known benchmarks, with their bias.
const (
	RoundTime Scheme = "round-time"
	Window    Scheme = "window"
	SKaMPI    Scheme = "skampi" // windows that stay as they are, clocks compared one after the other and by offsets alone
	MPPTest   Scheme = "mpptest"
	MPBench   Scheme = "mpbench"
	IMB       Scheme = "imb"
)

// Schemes are all schemes.
var Schemes = []Scheme{RoundTime, Window, SKaMPI, MPPTest, MPBench, IMB}

// number is that of the job.
func (s Scheme) number() int {
	return map[Scheme]int{RoundTime: 0, Window: 1, SKaMPI: 1, MPPTest: 2, MPBench: 3, IMB: 4}[s]
}

// Single reports whether the scheme times single executions with a common start.
func (s Scheme) Single() bool { return s == RoundTime || s == Window || s == SKaMPI }

// CollectiveOptions define what is measured and how.
type CollectiveOptions struct {
	Operations []Operation
	Sizes      []int // bytes
	Ranks      []int
	Scheme     Scheme
	Repeat     int // valid executions wanted, or loops
	Launches   int // of the job for each number of ranks
	Seed       uint64
	Loop       int           // executions in a loop of mpptest, mpbench and imb
	Barriers   int           // before each loop of imb
	Lead       int           // a round starts so many times the time of a broadcast after it is announced
	Window     time.Duration // of the window scheme
	Tolerance  time.Duration // a later start makes a repetition invalid
	Budget     time.Duration // for one operation and size
	Inject     []Injection   // into the clocks, by rank: to try the synchronization
	Progress   func(done, total int, what string)
}

// DefaultCollectives are the options that suit most machines.
func DefaultCollectives() CollectiveOptions {
	return CollectiveOptions{
		Sizes: []int{8}, Ranks: []int{2}, Scheme: RoundTime, Repeat: 100, Launches: 3, Loop: 10, Barriers: 1, Lead: 10,
		Window: time.Millisecond, Tolerance: 20 * time.Microsecond, Budget: 2 * time.Second,
	}
}

const (
	mostBytes     = 1 << 30 // of all blocks of a rank
	mostDoublings = 6
)

// Check returns an error if the options cannot be followed.
func (o *CollectiveOptions) Check() error {
	switch {
	case len(o.Operations) == 0 || len(o.Sizes) == 0 || len(o.Ranks) == 0:
		return errors.New("operations, sizes and numbers of ranks are needed, one of each at least")
	case !slices.Contains(Schemes, o.Scheme):
		return fmt.Errorf("%q is not a scheme, one of %v", o.Scheme, Schemes)
	case o.Repeat < 1 || o.Repeat > 1e5:
		return fmt.Errorf("1 to 100000 repetitions, not %d", o.Repeat)
	case o.Launches < 1 || o.Launches > 1000:
		return fmt.Errorf("1 to 1000 launches, not %d", o.Launches)
	case o.Loop < 1 || o.Loop > 1e5:
		return fmt.Errorf("a loop has 1 to 100000 executions, not %d", o.Loop)
	case o.Barriers < 0 || o.Barriers > 1e4:
		return fmt.Errorf("0 to 10000 barriers come before a loop, not %d", o.Barriers)
	case o.Lead < 1 || o.Lead > 1e6:
		return fmt.Errorf("rounds start 1 to 1000000 broadcasts after they are announced, not %d", o.Lead)
	case o.Window < time.Microsecond || o.Window > 10*time.Second:
		return fmt.Errorf("windows of 1us to 10s, not %s", o.Window)
	case o.Tolerance < 100*time.Nanosecond || o.Tolerance > time.Second:
		return fmt.Errorf("starts may be late by 100ns to 1s, not %s", o.Tolerance)
	case o.Budget < time.Millisecond || o.Budget > 5*time.Minute:
		return fmt.Errorf("an operation is measured for 1ms to 5m, not %s", o.Budget)
	}
	for _, p := range o.Ranks {
		if p < 1 || p > 1<<16 {
			return fmt.Errorf("collectives of 1 to 65536 ranks can be measured, not of %d", p)
		}
		if len(o.Inject) != 0 && len(o.Inject) != p {
			return fmt.Errorf("offsets and drifts of %d ranks for a job of %d", len(o.Inject), p)
		}
	}
	for _, size := range o.Sizes {
		most := slices.Max(o.Ranks)
		if size < 0 || size > mostBytes/max(most, 2) {
			return fmt.Errorf("blocks of 0 to %d bytes can be measured with %d ranks, not of %d", mostBytes/max(most, 2), most, size)
		}
		if i := slices.IndexFunc(o.Operations, func(op Operation) bool { return op.Reduces }); i >= 0 && size%8 != 0 {
			return fmt.Errorf("%s adds numbers of 8 bytes: give sizes that are multiples of 8, not %d", o.Operations[i].Name, size)
		}
	}
	return nil
}

// Repetition is one execution, or one loop of them: when each rank began and ended, in ns from a common moment.
type Repetition struct {
	Start, End []int64
	Flags      []int // of each rank, why it does not count
}

// Why a repetition does not count.
const (
	StartLate = 1 << iota // a rank came too late to wait for the start
	TooLong               // it did not end within its window
	Jitter                // a rank began too long after the start
)

// valid reports whether nothing is wrong with it on any rank.
func (r *Repetition) valid() bool {
	return !slices.ContainsFunc(r.Flags, func(f int) bool { return f != 0 })
}

// CollectiveRun are the repetitions of one launch.
type CollectiveRun struct {
	Launch      int
	Doublings   int           // of the window or the lead until enough were valid
	Lead        time.Duration // from the announcement to the start, or the window
	Repetitions []Repetition
	Refused     bool     // too few are valid
	Overlap     *float64 // of a non-blocking operation, in %: how much of it computation hides
}

// ValidCount is how many repetitions count.
func (r *CollectiveRun) ValidCount() int {
	return countOf(r.Repetitions, (*Repetition).valid)
}

// CollectivePoint is what was measured of an operation with a number of ranks and a size.
type CollectivePoint struct {
	Operation   Operation
	Ranks, Size int
	Runs        []CollectiveRun // by launch
}

// Collectives are all that was measured.
type Collectives struct {
	Options    CollectiveOptions   `json:"-"`
	Points     []*CollectivePoint  `json:"-"`
	MPI        string              `json:"mpi"`
	Version    string              `json:"mpi_library_version"` // what the library calls itself when it runs
	Command    []string            `json:"launch"`              // of the last launch
	Hosts      map[int][]string    `json:"hosts"`               // by the number of ranks
	Placements map[int][]Placement `json:"binding"`             // by the number of ranks, of rank 0, 1, ... in the last launch
	OneClock   bool                `json:"one_clock"`           // no synchronization was needed
	ClockError time.Duration       `json:"clock_error_ns"`      // largest bound of the error of the common clock
	// Crowded: by the number of ranks, more than CPUs on a host, so they gave their CPU away while waiting.
	Crowded  map[int]bool `json:"-"`
	Hooked   map[int]bool `json:"yields_by_slackline"` // by the number of ranks: by a function of ours in the place of the library's
	Settings []string     `json:"settings"`            // variables of the environment that change algorithms
	Omitted  []Omission   `json:"-"`                   // what was not measured because the library cannot do it
}

// ErrTooFewValid means that a measurement cannot be trusted.
var ErrTooFewValid = errors.New("too few repetitions are valid")

// Starter starts a job of so many ranks.
type Starter func(ctx context.Context, ranks int) (*Job, error)

type launch struct{ number, ranks int }

// MeasureCollectives measures all operations with all sizes and numbers of ranks, in a random order: launches of all
// numbers of ranks, and within each all operations and sizes.
func MeasureCollectives(ctx context.Context, start Starter, o CollectiveOptions) (*Collectives, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	c := &Collectives{Options: o, Hosts: map[int][]string{}, Placements: map[int][]Placement{}, Crowded: map[int]bool{},
		Hooked: map[int]bool{}, OneClock: true, Settings: settings(os.Environ())}
	for _, op := range o.Operations {
		for _, p := range o.Ranks {
			for _, size := range o.sizesOf(&op) {
				c.Points = append(c.Points, &CollectivePoint{Operation: op, Ranks: p, Size: size})
			}
		}
	}
	var launches []launch
	for k := range o.Launches {
		for _, p := range o.Ranks {
			launches = append(launches, launch{k, p})
		}
	}
	random := rand.New(rand.NewPCG(o.Seed, 0x636f6c6c))
	random.Shuffle(len(launches), func(i, j int) { launches[i], launches[j] = launches[j], launches[i] })
	done := 0
	for _, l := range launches {
		if err := c.launch(ctx, start, l, random, &done); err != nil {
			return nil, orCause(ctx, err)
		}
	}
	for _, p := range c.Points {
		slices.SortFunc(p.Runs, func(a, b CollectiveRun) int { return a.Launch - b.Launch })
	}
	return c, nil
}

// sizesOf are the sizes that an operation is measured with: one if it moves nothing.
func (o *CollectiveOptions) sizesOf(op *Operation) []int {
	if !op.Sized {
		return []int{0}
	}
	return o.Sizes
}

// settingPrefixes are those of the variables that control how MPI libraries do collectives, and where.
var settingPrefixes = []string{"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "MPICH_", "I_MPI_", "HYDRA_", "UCX_", "FI_", "MV2_",
	"MPI_"}

func settings(environment []string) []string {
	list := []string{}
	for _, v := range environment {
		if slices.ContainsFunc(settingPrefixes, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// launch starts a job and measures everything that is wanted with its number of ranks.
func (c *Collectives) launch(ctx context.Context, start Starter, l launch, random *rand.Rand, done *int) (err error) {
	j, err := start(ctx, l.ranks)
	if err != nil {
		return err
	}
	defer j.closeInto(&err)
	m := &collectiveJob{ctx: ctx, job: j, o: &c.Options, ranks: l.ranks}
	if err := m.start(); err != nil {
		return err
	}
	c.MPI, c.Command, c.Hosts[l.ranks], c.Placements[l.ranks] = j.Library.String(), j.Command, j.Hosts, m.placements
	c.Version = j.Version
	c.Crowded[l.ranks] = c.Crowded[l.ranks] || m.yielding
	c.Hooked[l.ranks] = c.Hooked[l.ranks] || m.yielding && m.hooked
	if err := c.omit(j.Library, m.persistent, l.ranks); err != nil {
		return err
	}
	points := slices.DeleteFunc(slices.Clone(c.Points), func(p *CollectivePoint) bool { return p.Ranks != l.ranks })
	random.Shuffle(len(points), func(a, b int) { points[a], points[b] = points[b], points[a] })
	for _, p := range points {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.Options.Progress != nil {
			c.Options.Progress(*done, len(c.Points)*c.Options.Launches, fmt.Sprintf("%s, %d ranks", p.Operation.Name, p.Ranks))
		}
		run, err := m.measure(p)
		if err != nil {
			return fmt.Errorf("%s with %d ranks and %d bytes: %w", p.Operation.Name, p.Ranks, p.Size, err)
		}
		run.Launch = l.number
		p.Runs = append(p.Runs, *run)
		*done++
	}
	c.OneClock = c.OneClock && !m.synchronize
	c.ClockError = max(c.ClockError, m.worst)
	return nil
}
