// Package input is the one place that decides what an input is and opens it.
//
// A verb hands over the word that the user wrote: the name of a pattern, the path
// of a file in any schedule format, a recorded run (the main file of a trace, or its
// directory), or "-" for the standard input. Files are recognized by their content,
// never by their suffix.
package input

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"slackline/analyze/replay"
	"slackline/internal/fault"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/suggest"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace"
)

// Stdin is the word for the standard input.
const Stdin = "-"

// Options say how an input is opened.
type Options struct {
	Stdin   io.Reader      // what "-" stands for
	Params  pattern.Params // of a pattern; files need none
	Hash    bool           // fill Input.Record with the hash of a file
	Replay  replay.Options // of a recorded run
	Strict  bool           // refuse a trace that is damaged or incomplete
	Clock   trace.Clock    // that brings the clocks of a trace together
	Partial bool           // leave out ranks of a trace whose events cannot be read
	KeepRun bool           // fill Input.Recorded
	ToRun   *ToRun         // the program is only run; nil: a schedule file becomes a graph
	Share   *Share         // several processes open it together; nil: this one does
	Kinds   Kinds          // what process 0 has found out about words; needed with Share
}

// ToRun means that a schedule file is read in the form in which it is run, without a graph.
type ToRun struct {
	Threads int // that read it; 0: one per core
}

// An Input is a program that is ready to be used.
type Input struct {
	Name    string // as the user wrote it
	Pattern string // name of the pattern; empty for files
	Format  string // name of the file format; empty for patterns
	Program schedule.Program
	Graph   *schedule.Graph // the program of a schedule file that is not only run; nil for others
	Replay  *replay.Program // the program of a recorded run; nil for others
	// Recorded is the recorded run, if it was asked for.
	Recorded *timeline.Timeline
	Record   provenance.Input
	Notes    []string // what the user should know about how the word was taken

	Warnings []string // what was lost

	// Whole is what this is a part of, if process 0 cannot read it again; nil: it can, or this is not a part.
	Whole *Input
}

// IsFile reports whether the input was read from a file or the standard input.
func (in *Input) IsFile() bool { return in.Pattern == "" }

// Open opens the input that word names. When ctx is done it stops waiting for what a pipe or the
// standard input gives.
func Open(ctx context.Context, word string, o Options) (*Input, error) {
	if o.Share.several() && o.Kinds.IsFile(word) {
		return openShared(ctx, word, o)
	}
	if o.Kinds.IsTrace(word) {
		return openReplay(ctx, word, o)
	}
	if o.Share.several() { // process 0 has seen that it is not a file
		return openPattern(word, o, nil)
	}
	isFile, notes, err := classify(word)
	if err != nil {
		return nil, err
	}
	if !isFile {
		return openPattern(word, o, notes)
	}
	in, _, err := openFile(ctx, word, o, notes)
	return in, err
}

// openFile reads a schedule. It returns what is in its file too, if that was in memory.
func openFile(ctx context.Context, word string, o Options, notes []string) (in *Input, data []byte, err error) {
	switch format, files, err := rankFiles(word); {
	case err != nil:
		return nil, nil, err
	case len(files) > 0:
		in, err = openRanks(ctx, word, format, files, o, notes)
		return in, nil, err
	case o.ToRun != nil:
		in, err = openToRun(ctx, word, o, notes)
		return in, nil, err
	}
	return openSchedule(ctx, word, o, notes)
}

func openPattern(word string, o Options, notes []string) (*Input, error) {
	program, err := pattern.New(word, o.Params)
	if err != nil {
		return nil, err
	}
	return &Input{
		Name: word, Pattern: word, Program: program, Notes: notes,
		Record: provenance.Input{Path: word, Kind: "pattern"},
	}, nil
}

// openSchedule reads a file with a schedule. It returns what is in it too.
func openSchedule(ctx context.Context, word string, o Options, notes []string) (*Input, []byte, error) {
	name, format, data, err := read(ctx, word, o.Stdin)
	if err != nil {
		return nil, nil, err
	}
	sum := make(chan string, 1)
	if o.Hash { // beside the reading, which takes longer
		fault.Go(func() { sum <- hash(data) })
	} else {
		sum <- ""
	}
	graph, err := format.Read(name, data)
	if err != nil {
		return nil, nil, err
	}
	return &Input{
		Name: word, Format: format.Name, Program: graph, Graph: graph, Notes: notes,
		Record: provenance.Input{Path: word, Kind: format.Name, Bytes: int64(len(data)), SHA256: <-sum},
	}, data, nil
}

// IsFile reports whether word would be opened as a file or the standard input,
// and not as a pattern.
func IsFile(word string) bool {
	isFile, _, _ := classify(word)
	return isFile
}

// classify decides whether a word is a file. A word with a path separator is
// one; so is the name of an existing file, even if a pattern has that name too.
func classify(word string) (isFile bool, notes []string, err error) {
	if word == Stdin {
		return true, nil, nil
	}
	isPattern := pattern.Has(word)
	info, statErr := os.Stat(word)
	switch {
	case statErr == nil && info.Mode().IsDir() && (IsTrace(word) || hasRankFiles(word)):
		return true, nil, nil
	case statErr == nil && info.Mode().IsDir() && !isPattern:
		if err := searchable(word); err != nil {
			return true, nil, err
		}
		return true, nil, fmt.Errorf("%s is a directory without a trace; %s", word, wayOut(word))
	case statErr == nil && !info.Mode().IsDir():
		if isPattern {
			notes = append(notes, fmt.Sprintf("%s is taken as the file of that name; the pattern %s is meant only where no such file exists", word,
				word))
		}
		return true, notes, nil
	case isPattern:
		return false, nil, nil
	case statErr != nil && !errors.Is(statErr, fs.ErrNotExist):
		return true, nil, statErr
	}
	return looksLikeFile(word), nil, Absent(word)
}

func looksLikeFile(word string) bool {
	return strings.ContainsRune(word, filepath.Separator) || filepath.Ext(word) != ""
}

// Absent is the error for a word that names neither a file nor a pattern.
func Absent(word string) error {
	if looksLikeFile(word) {
		return absent(word)
	}
	var names []string
	for _, p := range pattern.List() {
		names = append(names, p.Name)
	}
	hint := cmp.Or(suggest.Phrase(word, names), "; 'slackline generate --list' names the patterns")
	return fmt.Errorf("%q is neither a file nor a pattern%s", word, hint)
}

// absent is the error for a word that names nothing. Raw files of a run that was to have this name lie beside it.
func absent(word string) error {
	dir, name := filepath.Split(filepath.Clean(word))
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "."+name+"-raw-") {
			return fmt.Errorf("%s: no such file or directory, but there are raw files in %s, from a run that goes on or a 'slackline record' "+
				"that was killed, of which 'slackline record --recover %s' makes the trace", word, dir+e.Name(), phrase.Command(dir+e.Name()))
		}
	}
	return fmt.Errorf("%s: no such file or directory", word)
}

// wayOut says what to give instead of a directory that is neither a trace nor a schedule: the traces in it, or what has the name of one.
func wayOut(dir string) string {
	if hasTraceName(dir) {
		return "its name is that of one: is a file missing in it?"
	}
	entries, _ := os.ReadDir(dir)
	var found []string
	belongs := map[string]bool{} // to a trace that was found
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || belongs[path] || !IsTrace(path) && !hasTraceName(path) {
			continue
		}
		found = append(found, path)
		if !e.IsDir() {
			beside, _ := besides(path)
			for _, other := range beside {
				belongs[other] = true
			}
		}
	}
	switch len(found) {
	case 0:
		return "give a schedule file, a trace or a pattern"
	case 1:
		return "give the trace in it: " + found[0]
	}
	return fmt.Sprintf("give one of the %d traces in it, such as %s", len(found), found[0])
}

// hasTraceName reports whether the name of a path is that of a trace, although its content may be damaged.
func hasTraceName(path string) bool {
	for _, f := range trace.Formats() {
		if slices.Contains(f.Suffixes, filepath.Ext(path)) {
			return true
		}
	}
	return false
}

// searchable returns an error if it is unknown what a directory contains: it cannot be listed, or its files cannot be looked at.
func searchable(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name())); errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// RecordFile returns the record of a further file that was read, such as a
// machine file.
func RecordFile(path, kind string) (provenance.Input, error) {
	if IsPipe(path) { // it has been read, and cannot be again
		return provenance.Input{Path: path, Kind: kind}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return provenance.Input{}, err
	}
	defer f.Close()
	m := provenance.NewMeter(f)
	if _, err := io.Copy(io.Discard, m); err != nil {
		return provenance.Input{}, err
	}
	n, sum := m.Sum()
	return provenance.Input{Path: path, Kind: kind, Bytes: n, SHA256: sum}, nil
}
