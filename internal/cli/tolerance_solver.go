package cli

import (
	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/internal/table"
)

// solverOptions are the flags about the linear program.
type solverOptions struct {
	path   string
	solver choice
}

func newSolverOptions() solverOptions { return solverOptions{solver: newChoice("none", "none", "clp")} }

func (o *solverOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.path, "lp", "", "write the linear program whose solution is T to `FILE.lp|mps`")
	fs.Var(&o.solver, "solver", "solve the linear program as a cross-check: clp, where it is installed")
}

func (o *solverOptions) check(r *toleranceRun) error { return nil }

type solverAnswer struct{}

func (s *solverAnswer) members() object { return nil }

func (o *solverOptions) export(*toleranceRun, *toleranceReport, *tolerance.Evaluation) error {
	return nil
}

func (t *toleranceReport) solverTable() *table.Table { return nil }
