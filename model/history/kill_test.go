package history

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"slackline/internal/atomicfile"
)

// writerOf is the variable that makes the program of these tests a writer: the number of the writer.
const writerOf = "SLACKLINE_TEST_HISTORY_WRITER"

func TestMain(m *testing.M) {
	if who := os.Getenv(writerOf); who != "" {
		fmt.Fprintln(os.Stderr, write(who, os.Getenv("SLACKLINE_TEST_HISTORY")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// write adds entries without end, as 'slackline history add' does, and prints the name of each one that is there.
func write(who, dir string) error {
	for i := 0; ; i++ {
		name, data, err := entry(fmt.Sprintf("w%s.%d", who, i), noon.Add(time.Duration(i)*time.Second), float64(i)).Encode("1.0")
		if err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return err
		}
		fmt.Println(name)
	}
}

// Two writers that are killed at any moment lose nothing that was there, and leave nothing partial.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	var there []string
	for round := range 3 {
		var writers []*exec.Cmd
		var outputs []*bufio.Scanner
		for i := range 2 {
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), "SLACKLINE_TEST_HISTORY="+dir, fmt.Sprintf("%s=%d.%d", writerOf, round, i))
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			writers, outputs = append(writers, c), append(outputs, bufio.NewScanner(out))
		}
		for i, out := range outputs {
			for n := 0; n < 3+4*round+i && out.Scan(); n++ {
				there = append(there, out.Text())
			}
			if err := writers[i].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for out.Scan() { // what it had written when it was killed
				there = append(there, out.Text())
			}
			_ = writers[i].Wait() // it was killed
		}
	}
	if len(there) < 30 {
		t.Fatalf("only %d entries were written", len(there))
	}
	entries, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal("something partial is left: ", err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.Name] = true
	}
	for _, name := range there {
		if !found[name] {
			t.Errorf("%s is lost", name)
		}
	}
}
