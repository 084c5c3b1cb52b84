package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/observe/mpi"
)

// jobFlags say under which MPI a measurement runs.
type jobFlags struct {
	mpi    string
	launch string
	ranks  int
}

func (f *jobFlags) add(fs *pflag.FlagSet, what string) {
	f.addMPI(fs)
	fs.IntVar(&f.ranks, "ranks", 2, "`number` of ranks; "+what)
}

// addMPI adds the flags without the number of ranks.
func (f *jobFlags) addMPI(fs *pflag.FlagSet) {
	fs.StringVar(&f.mpi, "mpi", "", "`name` or compiler of the MPI, e.g. openmpi or mpicc.mpich (default: what SLACKLINE_MPI names, or the "+
		"first that is found)")
	fs.StringVar(&f.launch, "launch", "", "`command` that starts the ranks, without their number, e.g. 'srun --mpi=pmix --nodes 2' "+
		"(default: the MPI's own)")
}

// addNumbers adds the flags of a measurement on several numbers of ranks.
func (f *jobFlags) addNumbers(fs *pflag.FlagSet, ranks *string) {
	f.addMPI(fs)
	fs.StringVar(ranks, "ranks", "2", "`numbers` of ranks, e.g. 2,4,8 or 2^1..2^4")
}

// parseRanks reads the flag that addNumbers adds.
func parseRanks(text string) ([]int, error) {
	list, err := unit.ParseCounts(text)
	if err != nil {
		return nil, exit.Usagef("--ranks: %v", err)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// library is the MPI that the flags name, or else the variable that also chooses the MPI of a job.
func (f *jobFlags) library(ctx context.Context) (*mpi.Library, error) {
	list, err := mpi.Find(ctx)
	if err != nil {
		return nil, err
	}
	name, from := f.mpi, "--mpi"
	if name == "" {
		from = env.VariableOf("mpi")
		name = os.Getenv(from)
	}
	library, err := mpi.Named(list, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return library, nil
}

// starter starts one job after the other, and warns of what will disturb them if they are timed.
func (f *jobFlags) starter(ctx context.Context, a *env.Env, timed bool) (measure.Starter, error) {
	library, err := f.library(ctx)
	if err != nil {
		return nil, err
	}
	if timed {
		a.WarnAll(measure.Surroundings(0)) // before there is a job, which itself is a load
	}
	return func(ctx context.Context, ranks int) (*measure.Job, error) {
		j, err := measure.StartJob(ctx, library, ranks, strings.Fields(f.launch))
		if err == nil && timed {
			if w := crowded(j.Hosts); w != "" {
				a.Warn("%s", w)
			}
		}
		return j, err
	}, nil
}

// start starts a job that is timed.
func (f *jobFlags) start(ctx context.Context, a *env.Env) (*measure.Job, error) {
	start, err := f.starter(ctx, a, true)
	if err != nil {
		return nil, err
	}
	return start(ctx, f.ranks)
}

// crowded says that there are more ranks on this host than CPUs.
func crowded(hosts []string) string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	here := 0
	for _, h := range hosts {
		if h == name {
			here++
		}
	}
	if cpus := len(measure.CPUs()); cpus > 0 && here > cpus {
		return fmt.Sprintf("%d ranks share the %d CPUs of %s: times contain waiting for a CPU", here, cpus, name)
	}
	return ""
}

// hostsText names the hosts of ranks, each once.
func hostsText(hosts []string) string {
	var names []string
	for _, h := range hosts {
		if !slices.Contains(names, h) {
			names = append(names, h)
		}
	}
	if len(names) > 3 {
		return phrase.Plural(len(names), "host")
	}
	return strings.Join(names, ", ")
}

// interruptedOr is the end of the context, if it ended: then it is why the rest failed.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// inconclusiveIf reports an error with that cause and ends as inconclusive; it returns other errors.
func inconclusiveIf(a *env.Env, cause, err error) error {
	if !errors.Is(err, cause) {
		return err
	}
	a.Progress.Clear()
	a.Say(exit.PlainText(err))
	return exit.Verdict(exit.Inconclusive)
}
