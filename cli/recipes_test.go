package cli

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/needed"
)

// recipeFiles are all files of packaging.
func recipeFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join("..", "packaging"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRecipesCallUsRight parses every command of slackline in the files of packaging and in docs/recipes.md.
func TestRecipesCallUsRight(t *testing.T) {
	count := 0
	for _, path := range append(recipeFiles(t), filepath.Join("..", "docs", "recipes.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\\\n", " ")
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "run:"))
			line = strings.TrimPrefix(line, "srun ")
			command, ok := strings.CutPrefix(line, flags.Tool+" ")
			if !ok {
				continue
			}
			count++
			checkCommand(t, path, strings.Fields(command))
		}
	}
	if count < 8 {
		t.Errorf("only %d commands found", count)
	}
}

// TestRecordedJobIsRequeued starts the job of record.sbatch again as Slurm does when it puts it back into the queue: record refuses a trace
// that exists, and each start writes files of its own.
func TestRecordedJobIsRequeued(t *testing.T) {
	needed.Tool(t, "bash")
	script, err := filepath.Abs(filepath.Join("..", "packaging", "slurm", "record.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const standIn = `#!/bin/bash
for word; do case $last in --out) [ ! -e "$word" ] && echo $1 > "$word" || exit;; esac; last=$word; done
`
	if err := os.WriteFile(filepath.Join(dir, flags.Tool), []byte(standIn), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, restart := range []string{"SLURM_JOB_ID=7", "SLURM_RESTART_COUNT=1", "SLURM_RESTART_COUNT=2"} {
		c := exec.Command("bash", script, "./solver")
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "SLURM_JOB_NAME=run", "SLURM_JOB_ID=7", restart)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", restart, err, out)
		}
	}
	traces, _ := filepath.Glob(filepath.Join(dir, "run-7*.slt"))
	reports, _ := filepath.Glob(filepath.Join(dir, "run-7*.html"))
	if len(traces) != 3 || len(reports) != 3 {
		t.Errorf("%q and %q, want three of each", traces, reports)
	}
}

// checkCommand fails if there is no such verb or it has no such flags.
func checkCommand(t *testing.T, path string, words []string) {
	t.Helper()
	a := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	c, rest, err := rootCommand(a).Find(words)
	if err != nil || !c.HasParent() {
		t.Errorf("%s: slackline %s: no such verb (%v)", path, strings.Join(words, " "), err)
		return
	}
	if i := slices.Index(rest, "--"); i >= 0 {
		rest = rest[:i]
	}
	for i, word := range rest {
		rest[i] = strings.Trim(word, `'"`)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%s: slackline %s: %v", path, strings.Join(words, " "), err)
	}
}

// TestRecipesAreWellFormed reads YAML files and lets the shell read scripts.
func TestRecipesAreWellFormed(t *testing.T) {
	for _, path := range recipeFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(path, ".yml"):
			var any map[string]any
			if err := yaml.Unmarshal(data, &any); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		case strings.HasPrefix(string(data), "#!") && strings.Contains(strings.SplitN(string(data), "\n", 2)[0], "bash"):
			if out, err := exec.Command("bash", "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
	}
}
