package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"slackline/internal/needed"
)

var update = flag.Bool("update", false, "rewrite the pictures and outputs in the documents")

// TestDocuments runs the commands of the documents. In a block that is fenced as
// console, lines that begin with "$ " are run by a shell, and the lines below them
// must be what the command prints on its standard output; a line "..." stands
// for any number of lines, and a command without lines below may print what it
// likes. All commands of a document run in one directory. Pictures that they draw
// must be those in the repository. With -update outputs and pictures are written
// anew.
func TestDocuments(t *testing.T) {
	needed.Full(t, "the commands of documents")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "slackline")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	documents := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			documents = append(documents, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var commands atomic.Int64
	t.Cleanup(func() { // after the last document
		if n := commands.Load(); n < 10 {
			t.Errorf("only %d commands found in the documents", n)
		}
	})
	for _, path := range documents {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLinks(t, path)
			commands.Add(int64(runDocument(t, root, path)))
		})
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// checkLinks wants the files that a document links to.
func checkLinks(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range link.FindAllStringSubmatch(string(data), -1) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
			t.Errorf("%s links to %s, which does not exist", path, m[1])
		}
	}
}

// runDocument runs the commands of one document and returns their number.
func runDocument(t *testing.T, root, path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs", "images"), 0o777); err != nil {
		t.Fatal(err)
	}
	linkData(t, root, dir)
	var out []string // the document with the outputs of today
	count := 0
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); {
		out = append(out, lines[i])
		slow := lines[i] == "```console slow"
		if lines[i] != "```console" && !slow {
			i++
			continue
		}
		for i++; i < len(lines) && lines[i] != "```"; {
			command, ok := strings.CutPrefix(lines[i], "$ ")
			if !ok {
				t.Fatalf("%s:%d: a console block begins with a command", path, i+1)
			}
			out = append(out, lines[i])
			line := i + 1
			for i++; strings.HasSuffix(command, `\`); i++ {
				command = strings.TrimSuffix(command, `\`) + lines[i]
				out = append(out, lines[i])
			}
			var want []string
			for ; i < len(lines) && lines[i] != "```" && !strings.HasPrefix(lines[i], "$ "); i++ {
				want = append(want, lines[i])
			}
			if slow && testing.Short() {
				out = append(out, want...)
				continue
			}
			count++
			got := runShell(t, dir, command)
			switch {
			case len(want) == 0:
			case *update && !elided(want):
				out = append(out, got...)
			default:
				out = append(out, want...)
				if !matches(got, want) {
					t.Errorf("%s:%d: $ %s\nprints\n%s\nbut the document says\n%s", path, line, command, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
	checkPictures(t, root, dir)
	if text := strings.Join(out, "\n"); *update && text != string(data) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return count
}

// linkData lets the commands of documents use our own data.
func linkData(t *testing.T, root, dir string) {
	for _, name := range []string{"testdata", "examples"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func runShell(t *testing.T, dir, command string) []string {
	t.Helper()
	stdout, err := shell(dir, command)
	if err != nil {
		t.Error(err)
	}
	return strings.Split(strings.TrimRight(stdout, "\n"), "\n")
}

// shell runs a command in a directory and returns its standard output.
func shell(dir, command string) (string, error) {
	c := exec.Command("sh", "-c", command)
	c.Dir = dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("$ %s\n%w\n%s", command, err, stderr.String())
	}
	return stdout.String(), err
}

func elided(want []string) bool {
	for _, line := range want {
		if line == "..." {
			return true
		}
	}
	return false
}

// matches reports whether got is want, in which "..." stands for any lines.
func matches(got, want []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "..." {
		for skip := 0; skip <= len(got); skip++ {
			if matches(got[skip:], want[1:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && got[0] == want[0] && matches(got[1:], want[1:])
}

// checkPictures compares the pictures that a document's commands drew with those
// in the repository.
func checkPictures(t *testing.T, root, dir string) {
	list, err := os.ReadDir(filepath.Join(dir, "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got, err := os.ReadFile(filepath.Join(dir, "docs", "images", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, "docs", "images", e.Name())
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/images/%s is not what its command draws (%v); run go test ./cli -run TestDocuments -update", e.Name(), err)
		}
	}
}
