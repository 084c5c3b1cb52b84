package mpi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"slackline/internal/trusted"
)

// Inventory is what the machine offers to MPI programs and to tools that look at them.
type Inventory struct {
	Libraries []*Library `json:"libraries"`
	Broken    []string   `json:"broken,omitempty"` // compilers that do not work, with the reason
	Tools     []Tool     `json:"tools"`
	Remarks   []string   `json:"remarks,omitempty"` // what has to be done before something works
	Cache     string     `json:"cache"`
	CPUs      int        `json:"cpus"`
}

// Tool is a program or library that helps; Path is empty if it was not found.
type Tool struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	For  string `json:"for"` // what it is good for
}

// Doctor looks at the machine.
func Doctor(ctx context.Context) (*Inventory, error) {
	d := &Inventory{Cache: cacheDir(), CPUs: runtime.NumCPU()}
	d.Libraries, d.Broken = find(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, text := range []string{rootRemark(d.Libraries, os.Geteuid(), os.Getenv), cacheRemark(d.Cache)} {
		if text != "" {
			d.Remarks = append(d.Remarks, text)
		}
	}
	for _, t := range []Tool{
		{Name: "gcc", For: "C programs; compiles the recorder, called by mpicc"},
		{Name: "gfortran", For: "Fortran programs"},
		{Name: "clang", For: "OpenMP programs whose runtime reports to tools (OMPT)"},
		{Name: "srun", For: "launching under Slurm"},
		{Name: "otf2-print", For: "looking at OTF2 traces"},
	} {
		if path, err := exec.LookPath(t.Name); err == nil {
			t.Path = path
		}
		d.Tools = append(d.Tools, t)
	}
	for _, l := range []Tool{
		{Name: "libgomp.so.1", For: "OpenMP of GCC: parallel regions and barriers are recorded by wrapping its entry points"},
		{Name: "libomp.so.5", For: "OpenMP of LLVM: parallel regions and barriers are recorded by OMPT"},
	} {
		l.Path = findLibrary(l.Name)
		d.Tools = append(d.Tools, l)
	}
	return d, nil
}

// rootRemark lists what root, as in containers, has to set before the launcher of Open MPI starts anything.
func rootRemark(list []*Library, user int, getenv func(string) string) string {
	has := slices.ContainsFunc(list, func(l *Library) bool { return l.Kind == OpenMPI })
	var missing []string
	for _, name := range []string{"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"} {
		if getenv(name) != "1" {
			missing = append(missing, name+"=1")
		}
	}
	if !has || user != 0 || len(missing) == 0 {
		return ""
	}
	return "you are root: mpirun of Open MPI starts nothing for you unless you set " + strings.Join(missing, " and ")
}

// cacheRemark reports that nothing can be kept in the cache, or what is kept there is refused, and what to do; empty: it is fine.
// As the first compilation does, it makes the folder.
func cacheRemark(dir string) string {
	err := writable(dir)
	if err == nil {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			check := trusted.File
			if err == nil && d.IsDir() {
				check = trusted.Dir
			}
			if err == nil {
				err = trustedPart(check, path)
			}
			if errors.Is(err, fs.ErrNotExist) { // another process has removed it
				return nil
			}
			return err
		})
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, trusted.ErrUntrusted), errors.Is(err, errNoExec):
		return "compiled parts: " + err.Error()
	}
	return fmt.Sprintf("compiled parts cannot be kept: %v; %s", err, otherCache)
}

// findLibrary finds a library where the system searches.
func findLibrary(name string) string {
	dirs := append(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), systemDirs()...)
	more, _ := filepath.Glob("/usr/lib/llvm-*/lib")
	for _, dir := range append(dirs, more...) {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
