package tolerance

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// solverOptions are the flags about the linear program.
type solverOptions struct {
	path   string
	solver string
}

// The solvers.
const (
	solverNone = "none"
	solverClp  = "clp"
)

func (o *solverOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.path, "lp", "", "write the linear program whose optimum is T to `FILE.lp|mps`")
	flags.AddChoice(fs, &o.solver, "solver", "let a solver find T and the tolerances from the linear program too, and compare; clp must be "+
		"installed", solverNone, solverNone, solverClp)
}

func (o *solverOptions) check(*run) error {
	if suffix := filepath.Ext(o.path); o.path != "" && suffix != ".lp" && suffix != ".mps" {
		return exit.Usagef("--lp: no format for %q; possible are .lp and .mps", o.path)
	}
	if o.solver == solverClp {
		if _, err := exec.LookPath(solverClp); err != nil {
			return fmt.Errorf("--solver clp: clp is not installed (Debian has it in coinor-clp); install it, or leave --solver out")
		}
	}
	return nil
}

// export writes the linear program, and has it solved, as asked for.
func (o *solverOptions) export(r *run, t *report, e *tolerance.Evaluation) error {
	if o.path == "" && o.solver == solverNone {
		return nil
	}
	p, err := e.LinearProgram(t.set.variable)
	if err != nil {
		return err
	}
	if o.path != "" {
		err := r.app.WriteOut(o.path, r.files, func(w io.Writer) error { return writeLinearProgram(w, p, o.path, tolerance.Goal{}) })
		if err != nil {
			return err
		}
		r.app.Note("wrote %s with %s and %s", o.path, phrase.Plural(p.Rows(), "row"), phrase.Plural(p.Columns(), "column"))
	}
	if o.solver == solverClp {
		t.solved, err = r.solve(t.answers, p)
	}
	return err
}

// writeLinearProgram writes a linear program in the format of the file.
func writeLinearProgram(w io.Writer, p *tolerance.LinearProgram, file string, goal tolerance.Goal) error {
	if filepath.Ext(file) == ".mps" {
		return p.WriteMPS(w, goal)
	}
	return p.WriteLP(w, goal)
}

// solverAnswer is what a solver found.
type solverAnswer struct {
	Solver  string        `json:"solver"`
	Rows    int           `json:"rows"`
	Columns int           `json:"columns"`
	Values  []solvedValue `json:"values"`

	parameter tolerance.Parameter
}

// solvedValue is one optimum beside our answer.
type solvedValue struct {
	Name    string        `json:"name"`
	Optimum number        `json:"optimum"` // null: there is none
	Agrees  bool          `json:"agrees"`
	Took    time.Duration `json:"seconds"`

	optimum   float64
	unbounded bool
	failed    string // why there is no optimum
	ours      tolerance.Largest
	isTime    bool // ours is T
}

// agrees reports whether the optimum is our answer, but for the rounding of the solver. Our values of the
// variable are rounded down.
func (v *solvedValue) agrees() bool {
	if v.unbounded || v.ours.Unbounded {
		return v.unbounded == v.ours.Unbounded
	}
	const relative = 1e-9 // of a solver that works with 53 bits
	slack := math.Max(1e-3, relative*math.Abs(v.optimum))
	ours := float64(v.ours.X)
	if v.isTime {
		return math.Abs(v.optimum-ours) <= slack
	}
	return v.optimum >= ours-slack && v.optimum < ours+1+slack
}

// solve lets Clp find T and the tolerances.
func (r *run) solve(a *tolerance.Answers, p *tolerance.LinearProgram) (*solverAnswer, error) {
	dir, err := os.MkdirTemp("", "slackline-lp-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	answer := &solverAnswer{Solver: solverClp, Rows: p.Rows(), Columns: p.Columns(), parameter: a.Question.Variable.Parameter}
	add := func(name string, ours tolerance.Largest, isTime bool, goal tolerance.Goal) error {
		r.app.Note("clp solves for %s", name)
		v := solvedValue{Name: name, Optimum: "null", ours: ours, isTime: isTime}
		begin := time.Now()
		if err := r.runClp(dir, p, goal, &v); err != nil {
			return err
		}
		v.Took = time.Since(begin)
		if !v.unbounded {
			v.Optimum = number(fmt.Sprintf("%.3f", v.optimum))
		}
		if v.Agrees = v.agrees(); !v.Agrees {
			r.app.Warn("clp finds another %s: %g instead of %d", name, v.optimum, ours.X)
		}
		answer.Values = append(answer.Values, v)
		return nil
	}
	if err := add("T", tolerance.Largest{X: a.Given.T}, true, tolerance.Goal{}); err != nil {
		return nil, err
	}
	for i, percent := range r.ask.percents {
		bound, ok := a.Bound(i)
		if !ok {
			continue
		}
		name := fmt.Sprintf("%s for %s", answer.parameter, percent)
		if err := add(name, a.Tolerance[i], false, tolerance.Goal{Within: true, Bound: bound}); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// runClp solves one linear program in a directory.
func (r *run) runClp(dir string, p *tolerance.LinearProgram, goal tolerance.Goal, v *solvedValue) error {
	file, solution := filepath.Join(dir, "program.lp"), filepath.Join(dir, "solution")
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := p.WriteLP(f, goal); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// Presolve and scaling round: of some feasible programs they make an infeasible one. Clp then tries without.
	for _, method := range [][]string{{"-solve"}, {"-presolve", "off", "-solve"}, {"-presolve", "off", "-scaling", "off", "-primalsimplex"}} {
		if err := r.callClp(v, solution, slices.Concat([]string{file}, method, []string{"-saveSolution", solution})...); err != nil {
			return err
		}
		if v.failed == "" && v.agrees() {
			return nil
		}
	}
	if v.failed != "" {
		return fmt.Errorf("clp did not solve the linear program: %s", v.failed)
	}
	return nil
}

// callClp calls Clp once, and reads the optimum if there is one.
func (r *run) callClp(v *solvedValue, solution string, args ...string) error {
	out, err := exec.CommandContext(r.context, solverClp, args...).CombinedOutput()
	if ctxErr := r.context.Err(); ctxErr != nil {
		return ctxErr
	}
	text := string(out)
	v.failed, v.unbounded, v.optimum = "", false, 0
	switch {
	case err != nil:
		return fmt.Errorf("clp: %w: %s", err, lastLine(text))
	case strings.Contains(text, "Optimal objective"):
	case strings.Contains(text, "ual infeasible"), strings.Contains(text, "unbounded"):
		v.unbounded = true
		return nil
	default:
		v.failed = lastLine(text)
		return nil
	}
	data, err := os.ReadFile(solution)
	if err != nil {
		return err
	}
	if len(data) < 16 { // rows, columns, optimum, then the values
		return fmt.Errorf("clp wrote a solution of %d bytes", len(data))
	}
	v.optimum = math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// show prints an optimum: T is in picoseconds, or femtoseconds if G is varied.
func (s *solverAnswer) show(v *solvedValue) string {
	switch {
	case v.unbounded:
		return "any"
	case v.isTime && s.parameter == tolerance.G:
		return valueOf{tolerance.L, int64(math.Round(v.optimum / 1000))}.exact()
	case v.isTime:
		return valueOf{tolerance.L, int64(math.Round(v.optimum))}.exact()
	}
	return valueOf{s.parameter, int64(math.Floor(v.optimum + 1e-3))}.exact()
}

func (t *report) solverTable() *table.Table {
	if t.solved == nil {
		return nil
	}
	s := table.Of("by clp", ">optimum", ">took", "remark")
	for i := range t.solved.Values {
		v := &t.solved.Values[i]
		remark := "agrees"
		if !v.Agrees {
			remark = "differs"
		}
		s.Add(v.Name, t.solved.show(v), unit.Elapsed(v.Took), remark)
	}
	return s
}
