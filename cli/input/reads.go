package input

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"slackline/model/dataset"
)

// Reads reports whether what a word names is read from a file that is at a path, or below it: the file itself, a part of a trace or of
// another input of several files, or one of the inputs in a directory. Of other files in a directory of inputs, such as an earlier
// report, it is false.
func Reads(word, path string) bool {
	at, err := newPlace(path)
	if err != nil {
		return false // there is nothing
	}
	info, err := os.Stat(word)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(word); err == nil && info.IsDir() {
		word = real
	}
	if dir := filepath.Dir(word); !info.IsDir() && dataset.IsWhole(Dir(dir)) {
		word = dir
	}
	if !info.IsDir() || isWhole(word) {
		return at.holdsPart(word)
	}
	found := false
	_ = filepath.WalkDir(word, func(file string, d fs.DirEntry, err error) error { // what cannot be read is not read
		switch {
		case err != nil || file == word:
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if file, err = filepath.EvalSymlinks(file); err != nil {
				return nil
			}
		}
		switch info, err := os.Stat(file); {
		case err != nil:
		case info.IsDir() && isWhole(file):
			if found = at.holdsPart(file); !found && d.IsDir() {
				return fs.SkipDir
			}
		case info.Mode().IsRegular() && filepath.Dir(file) == filepath.Dir(at.real):
			found = at.holdsPart(file) && (IsTrace(file) || isMeasured(file))
		case info.Mode().IsRegular():
			found = at.holds(file) && (IsTrace(file) || isMeasured(file))
		}
		if found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// place is a path where something is.
type place struct {
	info fs.FileInfo
	real string // without symbolic links
}

func newPlace(path string) (p place, err error) {
	if p.info, err = os.Stat(path); err != nil {
		return p, err
	}
	if p.real, err = filepath.Abs(path); err == nil {
		p.real, err = filepath.EvalSymlinks(p.real)
	}
	return p, err
}

// holds reports whether a file is at a place or below it.
func (p place) holds(file string) bool {
	other, err := newPlace(file)
	return err == nil && (os.SameFile(p.info, other.info) || strings.HasPrefix(other.real, p.real+string(filepath.Separator)))
}

// holdsPart is holds for one of the files of an input.
func (p place) holdsPart(word string) bool {
	files, err := filesOf(word)
	if _, ranks, err := rankFiles(word); err == nil {
		files = append(files, ranks...)
	}
	if err != nil {
		return p.holds(word)
	}
	for _, file := range files {
		if p.holds(file) {
			return true
		}
	}
	return false
}

// isWhole reports whether a directory is one input.
func isWhole(dir string) bool {
	return IsTrace(dir) || hasRankFiles(dir) || dataset.IsWhole(Dir(dir))
}

// isMeasured reports whether a file has measurements.
func isMeasured(file string) bool {
	head, err := Head(file)
	if err != nil {
		return false
	}
	_, known := dataset.Sniff(head)
	return known
}
