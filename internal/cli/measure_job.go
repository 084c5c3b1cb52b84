package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

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
	fs.StringVar(&f.mpi, "mpi", "", "`name` or compiler of the MPI, e.g. openmpi or mpicc.mpich (default: the first that is found)")
	fs.StringVar(&f.launch, "launch", "", "`command` that starts the ranks, without their number, e.g. 'srun --nodes 2' (default: the MPI's own)")
}

// starter starts one job after the other, and warns of what will disturb them if they are timed.
func (f *jobFlags) starter(ctx context.Context, a *app, timed bool) (measure.Starter, error) {
	list, err := mpi.Find(ctx)
	if err != nil {
		return nil, err
	}
	library, err := mpi.Named(list, f.mpi)
	if err != nil {
		return nil, fmt.Errorf("--mpi: %w", err)
	}
	if timed {
		for _, w := range measure.Surroundings(0) {
			a.warn("%s", w)
		}
	}
	return func(ctx context.Context, ranks int) (*measure.Job, error) {
		j, err := measure.StartJob(ctx, library, ranks, strings.Fields(f.launch))
		if err == nil && timed {
			if w := crowded(j.Hosts); w != "" {
				a.warn("%s", w)
			}
		}
		return j, err
	}, nil
}

// start starts the job and warns of what will disturb it.
func (f *jobFlags) start(ctx context.Context, a *app) (*measure.Job, error) {
	list, err := mpi.Find(ctx)
	if err != nil {
		return nil, err
	}
	library, err := mpi.Named(list, f.mpi)
	if err != nil {
		return nil, fmt.Errorf("--mpi: %w", err)
	}
	before := measure.Surroundings(0) // the job itself is a load
	j, err := measure.StartJob(ctx, library, f.ranks, strings.Fields(f.launch))
	if err != nil {
		return nil, err
	}
	for _, w := range before {
		a.warn("%s", w)
	}
	if w := crowded(j.Hosts); w != "" {
		a.warn("%s", w)
	}
	return j, nil
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
	seen := map[string]bool{}
	for _, h := range hosts {
		if !seen[h] {
			seen[h] = true
			names = append(names, h)
		}
	}
	if len(names) > 3 {
		return plural(len(names), "host")
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
