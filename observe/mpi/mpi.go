// Package mpi finds the MPI libraries of a machine and works with them: it compiles embedded C parts with a library's
// own compiler and keeps the result, finds the library that a program and a launcher belong to, and starts programs with
// a library preloaded.
//
// It knows nothing of what the C parts do.
package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Kind is a family of MPI libraries that are launched in the same way.
type Kind string

// The kinds of MPI libraries.
const (
	OpenMPI Kind = "Open MPI"
	MPICH   Kind = "MPICH" // and what is built from it
	Unknown Kind = "unknown MPI"
)

// Library is an MPI library with its tools.
type Library struct {
	Kind     Kind
	Version  string
	Compiler string   // mpicc, the C compiler of this library
	Fortran  string   // its Fortran compiler, if there is one
	Launcher string   // mpirun of this library, if there is one
	Needed   []string // what a program of it must load, e.g. libmpi.so.40
	show     string   // what the compiler adds
}

func (l *Library) String() string { return fmt.Sprintf("%s %s", l.Kind, l.Version) }

// ErrNone means that there is no MPI compiler.
var ErrNone = errors.New("no MPI compiler found: there is no mpicc in PATH; install e.g. libopenmpi-dev and openmpi-bin, or load a module")

// compilerNames are the names under which MPI's C compiler is found; names with a suffix come first, because they
// show which library they belong to.
var compilerNames = []string{"mpicc.openmpi", "mpicc.mpich", "mpicc.mpich.hydra", "mpicc.mvapich2", "mpiicc", "mpicc", "cc-mpi"}

// Find returns the MPI libraries whose compilers are in PATH. A compiler that does not work is left out; Doctor
// reports why.
func Find(ctx context.Context) ([]*Library, error) {
	list, broken := find(ctx)
	switch err := ctx.Err(); {
	case err != nil:
		return nil, err
	case len(list) > 0:
		return list, nil
	case len(broken) > 0:
		return nil, fmt.Errorf("no MPI compiler works: %s", strings.Join(broken, "; "))
	}
	return nil, ErrNone
}

// find looks for libraries and reports what is wrong with the compilers that do not work.
func find(ctx context.Context) (list []*Library, broken []string) {
	for _, name := range compilerNames {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		l, err := examineOnce(ctx, cacheDir(), path)
		if err != nil {
			if err := err.Error(); !slices.Contains(broken, err) { // a full disk is one reason for all
				broken = append(broken, err)
			}
			continue
		}
		if slices.ContainsFunc(list, func(o *Library) bool { return o.show == l.show && o.Version == l.Version }) {
			continue // another name of the same
		}
		l.Launcher = findLauncher(l)
		l.Fortran = findFortran(l)
		list = append(list, l)
	}
	return list, broken
}

// examine asks a compiler what it is.
func examine(ctx context.Context, path string) (*Library, error) {
	dir, err := os.MkdirTemp("", "slackline-mpi-")
	if err != nil {
		return nil, fmt.Errorf("there is no place for temporary files; set TMPDIR: %w", err)
	}
	defer os.RemoveAll(dir)
	// Open MPI's compiler does not add its include path for a program on the standard input.
	probe := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(probe, []byte("#include <mpi.h>\nint slackline_probe(void) { return PMPI_Init(0, 0); }\n"), 0o666); err != nil {
		return nil, err
	}
	macros, err := output(ctx, "", path, "-E", "-dM", probe)
	if err != nil {
		return nil, fmt.Errorf("%s does not compile: %s", path, firstLine(macros))
	}
	l := &Library{Compiler: path}
	l.Kind, l.Version = versionOf(string(macros))
	show, _ := output(ctx, "", path, "-show")
	l.show = strings.TrimSpace(string(show))
	library := filepath.Join(dir, "probe.so")
	out, err := output(ctx, "", path, "-shared", "-fPIC", "-o", library, probe)
	if err != nil {
		return nil, fmt.Errorf("%s does not link: %s", path, firstLine(out))
	}
	n, err := neededBy(library)
	if err != nil {
		return nil, err
	}
	for _, name := range n.names {
		if strings.HasPrefix(name, "libmp") {
			l.Needed = append(l.Needed, name)
		}
	}
	return l, nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}

var macro = regexp.MustCompile(`(?m)^#define (OMPI_MAJOR_VERSION|OMPI_MINOR_VERSION|OMPI_RELEASE_VERSION|MPICH_VERSION|MVAPICH2_VERSION|I_MPI_VERSION|MPI_VERSION|MPI_SUBVERSION) "?([^"\n]*)"?`)

// versionOf identifies a library by the macros of its header.
func versionOf(macros string) (Kind, string) {
	m := map[string]string{}
	for _, match := range macro.FindAllStringSubmatch(macros, -1) {
		m[match[1]] = match[2]
	}
	switch {
	case m["OMPI_MAJOR_VERSION"] != "":
		return OpenMPI, m["OMPI_MAJOR_VERSION"] + "." + m["OMPI_MINOR_VERSION"] + "." + m["OMPI_RELEASE_VERSION"]
	case m["I_MPI_VERSION"] != "":
		return MPICH, "(Intel MPI) " + m["I_MPI_VERSION"]
	case m["MVAPICH2_VERSION"] != "":
		return MPICH, "(MVAPICH2) " + m["MVAPICH2_VERSION"]
	case m["MPICH_VERSION"] != "":
		return MPICH, m["MPICH_VERSION"]
	}
	return Unknown, "MPI " + m["MPI_VERSION"] + "." + m["MPI_SUBVERSION"]
}

// suffixed returns candidate names of a tool that belongs to a compiler: with the compiler's suffix first.
func (l *Library) suffixed(names ...string) []string {
	_, suffix, _ := strings.Cut(filepath.Base(l.Compiler), ".")
	var list []string
	for _, n := range names {
		if suffix != "" {
			list = append(list, n+"."+suffix)
		}
	}
	return append(list, names...)
}

// findLauncher returns the launcher that belongs to a library: the one beside its compiler, or one in PATH of the
// same kind.
func findLauncher(l *Library) string {
	dir := filepath.Dir(l.Compiler)
	for _, name := range l.suffixed("mpirun", "mpiexec") {
		if path := filepath.Join(dir, name); isExecutable(path) && kindOfLauncher(path) == l.Kind {
			return path
		}
	}
	for _, name := range l.suffixed("mpirun", "mpiexec", "mpiexec.hydra", "orterun") {
		if path, err := exec.LookPath(name); err == nil && kindOfLauncher(path) == l.Kind {
			return path
		}
	}
	return ""
}

func findFortran(l *Library) string {
	dir := filepath.Dir(l.Compiler)
	for _, name := range l.suffixed("mpifort", "mpif90") {
		path := filepath.Join(dir, name)
		if !isExecutable(path) {
			continue
		}
		// A plain name may belong to another library.
		if strings.Contains(name, ".") || strings.Contains(filepath.Base(resolved(path)), "opal") == (l.Kind == OpenMPI) {
			return path
		}
	}
	return ""
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// forNeeded returns the library whose parts are among the names of libraries that a program loads; nil if none is.
func forNeeded(list []*Library, names []string) *Library {
	for _, l := range list {
		if slices.ContainsFunc(l.Needed, func(n string) bool { return slices.Contains(names, n) }) {
			return l
		}
	}
	return nil
}
