package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Command is a command that starts an MPI program: a launcher with its options and one or several programs, or a
// program alone.
type Command struct {
	Args     []string
	Launcher string    // path of the launcher; empty: there is none
	Kind     Kind      // of the launcher; Unknown for srun, which starts programs of any library
	Slurm    bool      // the launcher is srun
	Programs []Program // in the order of the command
}

// Program is a program that a command starts.
type Program struct {
	Path string   // of its file; empty: not found among the words of the command
	Args []string // itself as written and its arguments
	loaded
	words []string // that hold no program which could be executed here
}

// kindOfLauncher returns the library that a launcher belongs to.
func kindOfLauncher(path string) Kind {
	if isSlurm(path) {
		return Unknown
	}
	for _, name := range []string{filepath.Base(resolved(path)), filepath.Base(path)} {
		switch {
		case strings.HasPrefix(name, "orterun"), strings.HasPrefix(name, "prterun"), strings.HasPrefix(name, "prun"), strings.HasSuffix(name,
			".openmpi"):
			return OpenMPI
		case strings.Contains(name, "hydra"), strings.HasSuffix(name, ".mpich"):
			return MPICH
		}
	}
	out, err := exec.Command(path, "--version").CombinedOutput()
	text := string(out)
	switch {
	case err != nil:
		return Unknown
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"), strings.Contains(text, "open-mpi"), strings.Contains(text,
		"PRRTE"):
		return OpenMPI
	case strings.Contains(text, "HYDRA"), strings.Contains(text, "Intel(R) MPI"), strings.Contains(text, "MPICH"):
		return MPICH
	}
	return Unknown
}

func isSlurm(path string) bool { return strings.HasPrefix(filepath.Base(path), "srun") }

// isLauncher reports whether a word of a command is the name of a launcher.
func isLauncher(word string) bool {
	base := filepath.Base(word)
	return slices.ContainsFunc([]string{"mpirun", "mpiexec", "orterun", "prterun", "prun", "srun"}, func(n string) bool {
		return base == n || strings.HasPrefix(base, n+".")
	})
}

// ParseCommand looks at a command and finds its launcher and its programs.
func ParseCommand(args []string) (*Command, error) {
	if len(args) == 0 {
		return nil, errors.New("there is no command")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("%s: no such program", args[0])
	}
	c := &Command{Args: args}
	if !isLauncher(args[0]) {
		p, err := programOf(args)
		if err != nil {
			return nil, err
		}
		c.Programs = []Program{p}
		return c, nil
	}
	c.Launcher, c.Kind, c.Slurm = path, kindOfLauncher(path), isSlurm(path)
	rest := args[1:]
	for len(rest) > 0 {
		end := slices.Index(rest, ":")
		part := rest
		if end >= 0 {
			part, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		p, err := programAmong(part)
		if err != nil {
			return nil, err
		}
		c.Programs = append(c.Programs, p)
	}
	return c, nil
}

// programAmong finds the program among the words after a launcher: the first word that is an executable file. Which
// options of launchers take a value is not known here, but values are seldom executable.
func programAmong(words []string) (Program, error) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && isProgram(w) {
			return programOf(words[i:])
		}
	}
	return Program{words: words}, nil
}

// missing says which program of the command is not on this host; empty: all are.
func (c *Command) missing() string {
	for i := range c.Programs {
		p := &c.Programs[i]
		if p.Path != "" || len(p.words) == 0 {
			continue
		}
		for _, w := range p.words {
			if strings.HasPrefix(w, "-") || !strings.Contains(w, "/") {
				continue
			}
			var why *exec.Error
			if _, err := exec.LookPath(w); errors.As(err, &why) {
				return w + ": " + strings.TrimPrefix(why.Err.Error(), "stat "+w+": ")
			}
		}
		return fmt.Sprintf("none of the words %q is a program on this host", strings.Join(p.words, " "))
	}
	return ""
}

const withoutPreload = "something that starts the program (env -i, a script) takes LD_PRELOAD out of its environment"

// WhyUnseen says why nothing was seen of MPI in a command that has ended with a code.
func (c *Command) WhyUnseen(l *Library, code int) string {
	if code != 0 {
		text := fmt.Sprintf("the command ended with code %d before MPI_Init was done", code)
		if missing := c.missing(); missing != "" {
			return text + ": " + missing
		}
		return text + ", or " + withoutPreload + c.Hint(l)
	}
	for i := range c.Programs {
		p := &c.Programs[i]
		switch {
		case p.Path == "" || p.script || p.static:
		case p.usesMPI():
			return fmt.Sprintf("%s ended without calling MPI_Init: check its arguments and its input; or %s", p.Path, withoutPreload)
		default:
			return fmt.Sprintf("%s is not linked with MPI: it does not use it, or it opens the library and takes the functions from there by "+
				"dlsym, past those that slackline preloads; link it with %s, or look the functions up with dlsym(RTLD_DEFAULT, ...)", p.Path, l)
		}
	}
	return fmt.Sprintf("the program did not call MPI_Init, has MPI linked in statically, uses another MPI than %s, or %s; "+
		"record one that is linked with it dynamically and calls MPI_Init", l, withoutPreload)
}

func isProgram(word string) bool {
	path, err := exec.LookPath(word)
	return err == nil && isExecutable(path)
}

// programOf looks at a program, and through those that only start another one (env, numactl, a shell).
func programOf(words []string) (Program, error) {
	path, err := exec.LookPath(words[0])
	if err != nil {
		return Program{}, fmt.Errorf("%s: no such program", words[0])
	}
	p := Program{Path: path, Args: words}
	n, err := neededBy(path)
	if err != nil {
		return Program{}, err
	}
	p.loaded = *n
	if p.usesMPI() || p.static && p.hasMPI {
		return p, nil
	}
	for i, w := range words[1:] {
		other, err := exec.LookPath(w)
		if err != nil || !isExecutable(other) {
			continue
		}
		if n, err := neededBy(other); err == nil && (n.usesMPI() || n.hasMPI) {
			return Program{Path: other, Args: words[i+1:], loaded: *n}, nil
		}
	}
	return p, nil
}

func (n *loaded) usesMPI() bool {
	return slices.ContainsFunc(n.names, func(name string) bool { return strings.HasPrefix(name, "libmpi") })
}

// Imports reports whether the program takes a function of that name from a library.
func (p *Program) Imports(name string) bool { return slices.Contains(p.imported, name) }

// library returns the library that a command's programs use. It finds out before the run what would fail in it: a
// program of one library under the launcher of another, and programs that have MPI built in.
func (c *Command) library(list []*Library) (*Library, error) {
	var found *Library
	for i := range c.Programs {
		p := &c.Programs[i]
		if p.Path == "" || p.script {
			continue
		}
		if p.hasMPI {
			return nil, fmt.Errorf("%s: %w", p.Path, ErrStatic)
		}
		l := forNeeded(list, p.names)
		if l == nil {
			if p.usesMPI() {
				return nil, fmt.Errorf("%s needs %s, which belongs to none of the MPI compilers found (%s); put its mpicc into PATH",
					p.Path, firstMPI(p.names), names(list))
			}
			continue
		}
		if found != nil && found != l {
			return nil, fmt.Errorf("%s is built with %s, but another program of the command with %s", p.Path, l, found)
		}
		found = l
		if c.Launcher != "" && c.Kind != Unknown && l.Kind != Unknown && c.Kind != l.Kind {
			hint := ""
			if l.Launcher != "" {
				hint = "; use " + l.Launcher
			}
			return nil, fmt.Errorf("%s is built with %s, but %s belongs to %s%s", p.Path, l, c.Args[0], c.Kind, hint)
		}
	}
	if found != nil {
		return found, nil
	}
	return c.byLauncher(list)
}

// byLauncher chooses the library of the launcher: what a script starts is not known before.
func (c *Command) byLauncher(list []*Library) (*Library, error) {
	for i := range c.Programs {
		if p := &c.Programs[i]; p.static && !p.script {
			return nil, fmt.Errorf("%s loads no libraries, so MPI cannot be recorded in it; link it dynamically", p.Path)
		}
	}
	if len(list) == 1 && (c.Kind == Unknown || c.Kind == "" || c.Kind == list[0].Kind) {
		return list[0], nil
	}
	for _, l := range list {
		if l.Launcher != "" && resolved(l.Launcher) == resolved(c.Launcher) {
			return l, nil
		}
	}
	for _, l := range list {
		if c.Kind != Unknown && c.Kind != "" && l.Kind == c.Kind {
			return l, nil
		}
	}
	if missing := c.missing(); missing != "" {
		return nil, fmt.Errorf("%s; correct the command, or name the MPI of a program that is on other hosts with --mpi: %s", missing,
			names(list))
	}
	why := ""
	if p := &c.Programs[0]; p.Path != "" && !p.script && c.Launcher == "" {
		why = ": " + p.Path + " is not linked with one"
	}
	return nil, fmt.Errorf("cannot determine which MPI the command uses%s; there are %s: name it with --mpi", why, names(list))
}

func firstMPI(names []string) string {
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "libmpi") })
	return names[max(i, 0)]
}

func names(list []*Library) string {
	var n []string
	for _, l := range list {
		n = append(n, l.String())
	}
	return strings.Join(n, ", ")
}

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// sanitizer lets programs that were built with -fsanitize=address begin, although their runtime is not the first library.
func (c *Command) sanitizer(preload string) []Variable {
	names := strings.FieldsFunc(preload, func(r rune) bool { return r == ':' || r == ' ' })
	for i := range c.Programs {
		names = append(names, c.Programs[i].names...)
	}
	if !slices.ContainsFunc(names, func(name string) bool {
		name = filepath.Base(name)
		return strings.HasPrefix(name, "libasan.so") || strings.HasPrefix(name, "libclang_rt.asan")
	}) {
		return nil
	}
	options := strings.TrimPrefix(os.Getenv("ASAN_OPTIONS")+":verify_asan_link_order=0", ":")
	return []Variable{{"ASAN_OPTIONS", options}}
}

// with returns the command and the environment by which all its processes, on all hosts, get a library preloaded and
// variables set.
func (c *Command) with(preload string, variables []Variable) (args, environment []string) {
	if old := os.Getenv("LD_PRELOAD"); old != "" && preload != "" {
		preload += ":" + old
	}
	all := slices.Concat(handedOn(), variables)
	if preload != "" {
		all = append(c.sanitizer(preload), all...)
		all = append([]Variable{{"LD_PRELOAD", preload}}, all...)
	}
	environment = os.Environ()
	if c.Launcher == "" {
		return c.Args, withVariables(environment, all)
	}
	var options []string
	switch {
	case c.Slurm:
		return slurmExport(c.Args, all)
	case c.Kind == OpenMPI: // its option holds for the programs up to the next colon
		for _, v := range all {
			options = append(options, "-x", v.Name+"="+v.Value)
		}
		args = slices.Concat(c.Args[:1], options)
		for _, w := range c.Args[1:] {
			args = append(args, w)
			if w == ":" {
				args = append(args, options...)
			}
		}
		return args, environment
	case c.Kind == MPICH:
		for _, v := range all {
			options = append(options, "-genv", v.Name, v.Value)
		}
	default:
		return c.Args, withVariables(environment, all)
	}
	return slices.Concat(c.Args[:1], options, c.Args[1:]), environment
}

// handedOn are the settings of another verb of slackline that runs this one: what it preloads needs them on all hosts.
func handedOn() []Variable {
	var list []Variable
	for _, word := range os.Environ() {
		if name, value, _ := strings.Cut(word, "="); strings.HasPrefix(name, InjectVariables) {
			list = append(list, Variable{name, value})
		}
	}
	return list
}

// InjectVariables is what the names of the settings of package inject start with.
const InjectVariables = "SLACKLINE_INJECT_"

func withVariables(environment []string, all []Variable) []string {
	for _, v := range all {
		environment = append(environment, v.Name+"="+v.Value)
	}
	return environment
}

// slurmExport adds variables to what srun hands on, by its option --export, which is given only once. Its list is
// separated by commas: a value with commas goes by srun's own environment.
func slurmExport(args []string, all []Variable) (with, environment []string) {
	environment = os.Environ()
	list := "ALL"
	if given := os.Getenv("SLURM_EXPORT_ENV"); given != "" { // the option goes before it
		list = given
	}
	with = slices.Clone(args)
	at, words := slurmOption(args, "--export")
	switch words {
	case 1:
		list = strings.TrimPrefix(args[at], "--export=")
	case 2:
		list = args[at+1]
	default:
		at = 1
	}
	if strings.EqualFold(list, "NONE") || strings.EqualFold(list, "NIL") { // what is named is handed on, and nothing else
		list = ""
	}
	for _, v := range all {
		switch {
		case !strings.Contains(v.Value, ","):
			list += "," + v.Name + "=" + v.Value
		case v.Name == "LD_PRELOAD": // not for srun itself
			list += "," + v.Name + "='" + v.Value + "'"
		default:
			list += "," + v.Name
			environment = append(environment, v.Name+"="+v.Value)
		}
	}
	return slices.Replace(with, at, at+words, "--export="+strings.TrimPrefix(list, ",")), environment
}

// slurmOption finds an option of srun before its program: where it is, and of how many words, one or two; none: it is not
// there.
func slurmOption(args []string, name string) (at, words int) {
	for i, w := range args {
		switch {
		case i > 0 && !strings.HasPrefix(w, "-") && isProgram(w):
			return 0, 0
		case w == name && i+1 < len(args):
			return i, 2
		case strings.HasPrefix(w, name+"="):
			return i, 1
		}
	}
	return 0, 0
}

// Apart is the file that a process leaves in the directory of the recorder, or of the library that injects, if it is alone
// in MPI_COMM_WORLD and finds that another one was there before.
const Apart = "apart"

// CheckApart returns what is wrong if the processes that a launcher has started were not one job of MPI.
func (c *Command) CheckApart(dir string, l *Library) error {
	if _, err := os.Stat(filepath.Join(dir, Apart)); c.Launcher == "" || err != nil {
		return nil
	}
	hint := c.Hint(l)
	if hint == "" {
		hint = "; it does not belong to " + l.String() + ", with which the program is built"
	}
	return fmt.Errorf("%s has started processes that do not know of each other, each is rank 0 of 1%s", c.Args[0], hint)
}

// Hint describes what may be missing where processes did not come through MPI_Init as one job, after the text that reports it.
// It is empty if nothing is known.
func (c *Command) Hint(l *Library) string {
	give := map[Kind]string{OpenMPI: "--mpi=pmix", MPICH: "--mpi=pmi2"}[l.Kind]
	give = cmp.Or(give, "--mpi=pmix or --mpi=pmi2")
	at, words := slurmOption(c.Args, "--mpi")
	switch given := strings.Join(c.Args[at:at+words], " "); {
	case !c.Slurm || given == give:
		return ""
	case words > 0:
		return fmt.Sprintf("; programs of %s need srun %s instead of %s (srun --mpi=list shows what there is)", l, give, given)
	}
	return fmt.Sprintf("; programs of %s need srun %s, unless the site has chosen that (srun --mpi=list shows what there is)", l, give)
}
