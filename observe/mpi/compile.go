package mpi

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"slackline/internal/parallel"
	"slackline/internal/trusted"
)

// Source is a part that is compiled with a library's compiler: C files and headers by name.
type Source struct {
	Name    string            // of the result, e.g. recorder
	Files   map[string]string // contents by name; those that end in .c are compiled
	Flags   []string          // for compiling
	Libs    []string          // for linking, e.g. -ldl
	Program bool              // make a program, not a library to be preloaded
}

// cacheDir is where compiled parts are kept.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = ownDir()
	}
	return filepath.Join(dir, "slackline", "mpi")
}

// otherCache is the way out if nothing can be kept there.
const otherCache = "let XDG_CACHE_HOME name a folder that has space and in which you can write"

// ownDir is a folder of this user where others may have folders, too.
func ownDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("slackline-%d", os.Getuid()))
}

// errNoExec means that the system runs and loads nothing from a file system.
var errNoExec = errors.New("lies on a file system from which nothing can be run (noexec)")

// trustedPart returns why a compiled part must not or cannot be run; nil: only this user or root can have put it there.
func trustedPart(check func(path string) error, path string) error {
	err := check(path)
	switch {
	case errors.Is(err, trusted.ErrUntrusted):
		return fmt.Errorf("%w; let XDG_CACHE_HOME name a folder in which you alone can write", err)
	case err == nil && noExec(path):
		return fmt.Errorf("%s %w; let XDG_CACHE_HOME name a folder for programs", path, errNoExec)
	}
	return err
}

// Compile compiles a source with the library's compiler, unless that was done before: results are kept by the content
// of the source, the library and the compiler. It returns the path of the result and whether it was compiled now.
func (l *Library) Compile(ctx context.Context, s Source) (path string, fresh bool, err error) {
	dir := cacheDir()
	if !s.Program && strings.ContainsAny(dir, " :") {
		return "", false, fmt.Errorf("no library can be preloaded from %q, because of the blank or colon; let XDG_CACHE_HOME name a folder "+
			"without", dir)
	}
	path, fresh, err = l.compileIn(ctx, dir, s)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) && failed.Op != "fork/exec" {
		err = fmt.Errorf("%w; %s", err, otherCache)
	}
	return path, fresh, err
}

// compileIn is Compile with another directory for the result.
func (l *Library) compileIn(ctx context.Context, cache string, s Source) (path string, fresh bool, err error) {
	name := "libslackline-" + s.Name + ".so"
	if s.Program {
		name = "slackline-" + s.Name
	}
	dir := filepath.Join(cache, l.key(s))
	path = filepath.Join(dir, name)
	if err := trustedPart(trusted.Dir, dir); err != nil {
		return "", false, err
	}
	if err := trustedPart(trusted.File, path); !errors.Is(err, fs.ErrNotExist) && (err != nil || whole(path)) {
		return path, false, err
	}
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(work)
	if err := l.build(ctx, s, work, name); err != nil {
		return "", false, err
	}
	made := filepath.Join(work, name)
	if err := os.Chmod(made, 0o700); err != nil { // whatever the umask lets a compiler make, which would be refused the next time
		return "", false, err
	}
	// Another process may have done the same meanwhile: the results are alike.
	if err := os.Rename(made, path); err != nil {
		return "", false, err
	}
	return path, true, nil
}

// whole reports whether a compiled part is complete: a crash of the system can cut off what was written before. It would kill the
// program into which it is loaded.
func whole(path string) bool {
	if runtime.GOOS != "linux" {
		return true // of another format
	}
	f, err := elf.Open(path) // the table of sections is at the end
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// build compiles the files side by side and links them.
func (l *Library) build(ctx context.Context, s Source, work, name string) error {
	flags := []string{"-std=c11", "-O2", "-fPIC"}
	link := []string{"-o", name}
	if !s.Program {
		flags, link = append(flags, "-fvisibility=hidden"), append(link, "-shared")
	}
	var files []string
	for _, file := range slices.Sorted(maps.Keys(s.Files)) {
		if err := os.WriteFile(filepath.Join(work, file), []byte(s.Files[file]), 0o666); err != nil {
			return err
		}
		if strings.HasSuffix(file, ".c") {
			files, link = append(files, file), append(link, file+".o")
		}
	}
	err := parallel.Try(len(files), runtime.GOMAXPROCS(0), func(i int) error {
		return l.compiler(ctx, s.Name, work, slices.Concat(flags, s.Flags, []string{"-I", ".", "-c", "-o", files[i] + ".o", files[i]}))
	})
	if err != nil {
		return err
	}
	return l.compiler(ctx, s.Name, work, slices.Concat(link, s.Libs))
}

// compiler calls the compiler in a directory.
func (l *Library) compiler(ctx context.Context, what, dir string, args []string) error {
	out, err := output(ctx, dir, l.Compiler, args...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s cannot compile the %s: %w\n%s", l.Compiler, what, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// output calls a compiler in a directory and returns what it prints. It has a process group of its own: an interrupt of all processes
// at a terminal ends it through the context alone, so that it is never taken for a compiler that fails. It is asked to end, for it
// removes its temporary files then.
func output(ctx context.Context, dir, path string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, path, args...)
	c.Dir = dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	if ctx.Err() != nil && c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what does not end then
	}
	return out, err
}

// key differs where something must be compiled again.
func (l *Library) key(s Source) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%q\n%q\n%v\n", l.Kind, l.Version, l.show, l.Compiler, s.Flags, s.Libs, s.Program)
	for _, path := range []string{l.Compiler, compilerBehind(l.show)} {
		if info, err := os.Stat(resolved(path)); err == nil {
			fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		} else if !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(h, "%s %v\n", path, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		fmt.Fprintf(h, "%s %d\n%s", name, len(s.Files[name]), s.Files[name])
	}
	const enough = 16
	return hex.EncodeToString(h.Sum(nil)[:enough])
}

// compilerBehind is the compiler that MPI's one calls.
func compilerBehind(show string) string {
	name, _, _ := strings.Cut(show, " ")
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}
