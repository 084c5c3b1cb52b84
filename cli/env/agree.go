package env

// What the processes of a job do
//
// All of them do what process 0 was asked to do. That they are the same program is found out by the bridges, before
// anything else is exchanged. Then process 0 sends its arguments and its working directory (takeScenario), later the
// settings that are in force (agreeOnVariables): a process that was asked for something else ends the job. What
// process 0 has read or found in its environment holds for the others, too: launchers start processes on other hosts
// with an environment of their own, which may be empty. The number of threads is a matter of each host.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
)

// ofEachProcess are the settings that may differ among processes: the results do not depend on them, and process 0 alone
// has streams.
var ofEachProcess = []string{"color", "no-progress", "quiet", "threads"}

// AgreeOnVariables returns the settings among some that variables of process 0 give, which hold for all processes of
// a job. A process on which a variable has another value was meant to do something else.
func (a *Env) AgreeOnVariables(ctx context.Context, names []string) (map[string]string, error) {
	here := map[string]string{}
	for _, name := range names {
		if value := os.Getenv(VariableOf(name)); value != "" {
			here[name] = value
		}
	}
	all := map[string]string{}
	if err := a.FromFirst(ctx, &all, func() error { maps.Copy(all, here); return nil }); err != nil {
		return nil, err
	}
	for _, name := range names {
		value, set := here[name]
		switch {
		case !set || value == all[name]:
		case slices.Contains(ofEachProcess, name):
			all[name] = value
		case all[name] == "":
			return nil, fmt.Errorf("%s is %q here, but not set at process 0; set it there, or nowhere", VariableOf(name), value)
		default:
			return nil, fmt.Errorf("%s is %q here, but %q at process 0; give all processes of a job the same", VariableOf(name), value, all[name])
		}
	}
	return all, nil
}
