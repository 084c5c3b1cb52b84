package campaign

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"slackline/internal/cluster"
)

// Team are the processes that share the runs of a campaign, and how many runs they do at a time. Runs that measure
// disturb each other, so a host does one at a time unless the plan or the user sets another number. Runs that only compute
// are done by all processes.
type Team struct {
	Processes int
	Hosts     int
	Each      bool // every process does one run at a time, because runs measure nothing

	places []place // where a run can be, one for each that is done at the same time
}

// place is where a run can be.
type place struct {
	process int
	host    string
}

// AtATime is how many runs are done at the same time.
func (t *Team) AtATime() int { return len(t.places) }

// onHost is the reason of a result, with its host if there are several.
func (t *Team) onHost(r *result) string {
	if t.Hosts < 2 {
		return r.Reason
	}
	return "on " + r.Host + ": " + r.Reason
}

// gather finds out who shares the runs.
func (x *execution) gather(ctx context.Context) error {
	hosts := []string{x.options.host()}
	if g := x.options.Group; g != nil {
		closeInherited()
		var err error
		if hosts, err = allHosts(ctx, g, hosts[0]); err != nil {
			return err
		}
		if g.Size() > 1 {
			x.crew = newCrew(g)
		}
	}
	x.team = newTeam(hosts, cmp.Or(x.options.Jobs, x.Plan.Jobs), x.Plan)
	if x.options.Begin != nil {
		x.options.Begin(x.team)
	}
	return nil
}

// host is the name of the machine.
func (o *Options) host() string {
	if o.Host != "" {
		return o.Host
	}
	name, _ := os.Hostname()
	return name
}

// allHosts lets all processes know where each of them is.
func allHosts(ctx context.Context, g cluster.Group, mine string) ([]string, error) {
	all, err := cluster.AllGather(ctx, g, []byte(mine))
	if err != nil {
		return nil, err
	}
	hosts := make([]string, len(all))
	for p := range all {
		hosts[p] = string(all[p])
	}
	return hosts, nil
}

// newTeam makes a team of processes on hosts, that do so many runs at a time on each host; 0: as the plan asks for.
// Places come host by host in turn, and those of a host process by process.
func newTeam(hosts []string, jobs int, plan *Plan) Team {
	var names []string
	members := map[string][]int{}
	for p, host := range hosts {
		if members[host] == nil {
			names = append(names, host)
		}
		members[host] = append(members[host], p)
	}
	t := Team{Processes: len(hosts), Hosts: len(names)}
	if plan.batch != nil { // runs are elsewhere
		names, members = names[:1], map[string][]int{names[0]: {0}}
	} else {
		t.Each = jobs == 0 && len(hosts) > 1 && plan.onlyComputes()
	}
	for round := 0; ; round++ {
		before := len(t.places)
		for _, host := range names {
			here := members[host]
			most := max(jobs, 1)
			if t.Each {
				most = len(here)
			}
			if round < most {
				t.places = append(t.places, place{here[round%len(here)], host})
			}
		}
		if len(t.places) == before {
			return t
		}
	}
}

// The verbs of slackline whose results do not depend on how fast they are found.
var computingVerbs = []string{"simulate", "tolerance", "generate", "waits", "profile", "convert", "compare", "scaling", "check"}

// onlyComputes reports whether runs measure nothing, so that they may be done side by side: they are calls of
// slackline that compute, and their time is not of interest.
func (p *Plan) onlyComputes() bool {
	if p.batch != nil || len(p.launch) != 1 || !p.launch[0].is("command") || len(p.command) < 2 {
		return false
	}
	measures := slices.ContainsFunc(p.Metrics, func(m Metric) bool { return m.from == fromWall || m.from == fromCPU })
	program, verb := p.command[0].fill(nil, nil), p.command[1].fill(nil, nil)
	return !measures && filepath.Base(program) == "slackline" && slices.Contains(computingVerbs, verb)
}

// String describes who shares the runs.
func (t *Team) String() string {
	hosts, runs := "one host", "one run"
	if t.Hosts > 1 {
		hosts = fmt.Sprintf("%d hosts", t.Hosts)
	}
	if n := len(t.places); n > 1 {
		runs = fmt.Sprintf("%d runs", n)
	}
	return fmt.Sprintf("%d processes on %s share the runs, %s at a time", t.Processes, hosts, runs)
}
