package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"slackline/model/schedule"
	"slackline/model/trace"
)

// CheckRun returns what is wrong with a word that names a file or a directory which is neither a recorded run nor a
// schedule: it cannot be read, or its first bytes are damaged. Nil: it is one of them, or no file.
func CheckRun(word string) error {
	info, err := os.Stat(word)
	if word == Stdin || err != nil {
		return nil
	}
	dir, base, err := split(word)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() || info.IsDir() { // others would be read
		if _, _, found, err := trace.Find(Dir(dir), base); err != nil || found {
			return withPath(err, word)
		}
	}
	if info.IsDir() {
		_, _, err := classify(word)
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	head, err := headOf(word)
	if err != nil {
		return err
	}
	if _, err := schedule.Sniff(word, head); err != nil {
		return notAnInput(word, err)
	}
	return nil
}

// Check returns what is wrong with a word that names none of a recorded run, a schedule and a pattern.
func Check(word string) error {
	if err := CheckRun(word); err != nil {
		return err
	}
	_, err := kindOf(word)
	return err
}

// NotARun says that a word is not a recorded run, and what to give instead where no machine is given.
func NotARun(word string) string {
	if IsPipe(word) {
		return fmt.Sprintf("%s is a pipe or a device: a schedule can be read from there, with its machine (--machine NAME), but a recorded "+
			"run cannot; give the file or the directory of the run", pipeName(word))
	}
	return fmt.Sprintf("%s is not a recorded run; to simulate it, give the machine: --machine NAME (see 'slackline machine list')", word)
}

// IsPipe reports whether a word is the standard input, a pipe or a device, of which bytes can be read once, one after the other.
func IsPipe(word string) bool {
	info, err := os.Stat(word)
	return word == Stdin || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

func pipeName(word string) string {
	if word == Stdin {
		return "the standard input"
	}
	return word
}

// withPath gives an error of a file system the path that the user knows.
func withPath(err error, path string) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return &os.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

func headOf(word string) ([]byte, error) {
	f, err := os.Open(word)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, headBytes))
}

// notAnInput is the error of a file of no known format. What has the name of a trace was one; what is not a file may be
// one that is not read from there.
func notAnInput(word string, err error) error {
	if IsPipe(word) {
		return fmt.Errorf("%w; a recorded run is read from its file or directory only", err)
	}
	for _, f := range trace.Formats() {
		if slices.Contains(f.Suffixes, filepath.Ext(word)) || f.Main != nil && f.Main([]string{filepath.Base(word)}) == filepath.Base(word) {
			return fmt.Errorf("%s: the header of the trace is damaged: its first bytes are not those of a file of format %s", word, f.Name)
		}
	}
	if unknown := (*schedule.UnknownError)(nil); errors.As(err, &unknown) {
		return fmt.Errorf("%s: neither a recorded run nor a schedule, in none of the formats of 'slackline convert --help': %s", word,
			unknown.Content)
	}
	return err
}
