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
		if _, _, found, err := trace.Find(os.DirFS(dir), base); err != nil || found {
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

// notAnInput is the error of a file of no known format. What has the name of a trace was one.
func notAnInput(word string, err error) error {
	for _, f := range trace.Formats() {
		if slices.Contains(f.Suffixes, filepath.Ext(word)) || f.Main != nil && f.Main([]string{filepath.Base(word)}) == filepath.Base(word) {
			return fmt.Errorf("%s: the header of the trace is damaged: its first bytes are not those of a file of format %s", word, f.Name)
		}
	}
	return err
}
