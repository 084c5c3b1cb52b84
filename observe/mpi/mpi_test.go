package mpi

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/internal/needed"
)

func TestVersionOf(t *testing.T) {
	for _, tc := range []struct {
		macros  string
		kind    Kind
		version string
	}{
		{"#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n#define MPI_VERSION 3\n", OpenMPI, "4.1.4"},
		{"#define MPICH_VERSION \"4.0.2\"\n#define MPI_VERSION 4\n", MPICH, "4.0.2"},
		{"#define MPICH_VERSION \"3.4a2\"\n#define I_MPI_VERSION \"2021.9.0\"\n", MPICH, "(Intel MPI) 2021.9.0"},
		{"#define MPI_VERSION 3\n#define MPI_SUBVERSION 1\n", Unknown, "MPI 3.1"},
	} {
		if kind, version := versionOf(tc.macros); kind != tc.kind || version != tc.version {
			t.Errorf("versionOf(%q) = %s, %s, want %s, %s", tc.macros, kind, version, tc.kind, tc.version)
		}
	}
}

func TestWith(t *testing.T) {
	t.Setenv("LD_PRELOAD", "")
	for _, tc := range []struct {
		command Command
		want    string
		env     bool
	}{
		{Command{Args: strings.Fields("mpirun -n 2 a : -n 1 b"), Launcher: "mpirun", Kind: OpenMPI},
			"mpirun -x LD_PRELOAD=lib -x A=1 -n 2 a : -x LD_PRELOAD=lib -x A=1 -n 1 b", false},
		{Command{Args: strings.Fields("mpiexec -n 2 a : -n 1 b"), Launcher: "mpiexec", Kind: MPICH},
			"mpiexec -genv LD_PRELOAD lib -genv A 1 -n 2 a : -n 1 b", false},
		{Command{Args: strings.Fields("srun -n 2 a"), Launcher: "srun", Kind: Unknown, Slurm: true},
			"srun --export=ALL,LD_PRELOAD=lib,A=1 -n 2 a", false},
		{Command{Args: strings.Fields("srun --export=NONE -n 2 a"), Launcher: "srun", Kind: Unknown, Slurm: true},
			"srun --export=LD_PRELOAD=lib,A=1 -n 2 a", false},
		{Command{Args: strings.Fields("srun -n 2 --export HOME sh --export=x"), Launcher: "srun", Kind: Unknown, Slurm: true},
			"srun -n 2 --export=HOME,LD_PRELOAD=lib,A=1 sh --export=x", false},
		{Command{Args: strings.Fields("srun sh --export=x"), Launcher: "srun", Kind: Unknown, Slurm: true},
			"srun --export=ALL,LD_PRELOAD=lib,A=1 sh --export=x", false},
		{Command{Args: []string{"a", "b"}}, "a b", true},
	} {
		args, environment := tc.command.with("lib", []Variable{{"A", "1"}})
		if got := strings.Join(args, " "); got != tc.want {
			t.Errorf("With = %s, want %s", got, tc.want)
		}
		if got := slices.Contains(environment, "LD_PRELOAD=lib") && slices.Contains(environment, "A=1"); got != tc.env {
			t.Errorf("%s: variables in the environment = %v, want %v", tc.want, got, tc.env)
		}
	}
	slurm := Command{Args: strings.Fields("srun a"), Launcher: "srun", Kind: Unknown, Slurm: true}
	t.Setenv("SLURM_EXPORT_ENV", "NONE")
	args, environment := slurm.with("lib", []Variable{{"A", "1,2"}})
	if got := strings.Join(args, " "); got != "srun --export=LD_PRELOAD=lib,A a" || !slices.Contains(environment, "A=1,2") {
		t.Errorf("With = %s, want a value with a comma in the environment of srun", got)
	}
	t.Setenv("LD_PRELOAD", "other")
	c := Command{Args: []string{"a"}}
	if _, environment := c.with("lib", nil); !slices.Contains(environment, "LD_PRELOAD=lib:other") {
		t.Error("a library that is preloaded already is lost")
	}
}

func TestFind(t *testing.T) {
	list, err := Find(context.Background())
	needed.NoError(t, err)
	for _, l := range list {
		if l.Version == "" || len(l.Needed) == 0 {
			t.Errorf("%+v has no version or needs nothing", l)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", nowhere)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // in which nothing is known
	_, err = Find(context.Background())
	if err == nil || strings.Count(err.Error(), nowhere) != 1 || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("without a place for temporary files: %v, want that it is missing, once", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(context.Background()); err != ErrNone {
		t.Errorf("without a compiler: %v, want ErrNone", err)
	}
}

// TestCompile wants a source to be compiled once for each content, also if the result was cut off since, and errors to be shown.
func TestCompile(t *testing.T) {
	list, err := Find(context.Background())
	needed.NoError(t, err)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := Source{Name: "part", Files: map[string]string{"a.c": "#include <mpi.h>\n#include \"b.h\"\nint main(void) { return B; }\n",
		"b.h": "#define B 3\n"}, Program: true}
	for i, fresh := range []bool{true, false, true, true} {
		path, got, err := list[0].Compile(context.Background(), s)
		if err != nil || got != fresh {
			t.Fatalf("%d: fresh = %v, %v, want %v", i, got, err, fresh)
		}
		err = exec.Command(path).Run()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 {
			t.Errorf("%s: %v, want exit code 3", path, err)
		}
		if size := []int64{-1, 0, 5000, -1}[i]; size >= 0 {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Files = map[string]string{"a.c": "nonsense\n"}
	if _, _, err := list[0].Compile(context.Background(), s); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("nonsense: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(cacheDir(), "*", "build-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestParseCommand finds programs and their libraries.
func TestParseCommand(t *testing.T) {
	list, err := Find(context.Background())
	needed.NoError(t, err)
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		program := filepath.Join(dir, "a")
		if out, err := exec.Command(l.Compiler, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, words := range [][]string{
			{program}, {"env", "A=1", program, "x"}, {l.Launcher, "-n", "2", program, "x", ":", "-n", "1", program},
		} {
			c, err := ParseCommand(words)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.library(list); err != nil || got != l {
				t.Errorf("%v: library = %v, %v, want %v", words, got, err, l)
			}
			if c.Programs[0].Path != program {
				t.Errorf("%v: program = %s, want %s", words, c.Programs[0].Path, program)
			}
		}
	}
	if _, err := ParseCommand([]string{"no-such-program"}); err == nil {
		t.Error("a program that does not exist was found")
	}
}

// TestMissingProgram wants the program that is not there to be named, not the MPI that it may use.
func TestMissingProgram(t *testing.T) {
	srun := filepath.Join(t.TempDir(), "srun")
	if err := os.WriteFile(srun, []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	two := []*Library{{Kind: OpenMPI, Version: "1"}, {Kind: MPICH, Version: "2"}}
	for words, want := range map[string]string{
		"./missing":          "./missing: no such file or directory; correct the command",
		"-n 2 ./missing 3/4": "./missing: no such file or directory; correct the command",
		"-n 2 no-program-of": `none of the words "-n 2 no-program-of" is a program on this host; correct the command`,
		"--export=A=/b /":    "/: is a directory; correct the command",
		"-n 2 true":          "cannot determine which MPI the command uses",
	} {
		c, err := ParseCommand(append([]string{srun}, strings.Fields(words)...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.library(two); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "with --mpi") {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
}

// TestNoMPI wants a program alone that is not linked with MPI to be named.
func TestNoMPI(t *testing.T) {
	c, err := ParseCommand([]string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.library([]*Library{{Kind: OpenMPI, Version: "1"}, {Kind: MPICH, Version: "2"}})
	if err == nil || !strings.Contains(err.Error(), "true is not linked with one") || !strings.Contains(err.Error(), "--mpi") {
		t.Errorf("%v, want that it is not linked with MPI", err)
	}
}

func TestDoctor(t *testing.T) {
	d, err := Doctor(context.Background())
	if err != nil || d.Cache == "" || len(d.Tools) == 0 {
		t.Errorf("Doctor = %+v, %v", d, err)
	}
}
