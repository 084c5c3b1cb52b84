// Package history holds what was measured of a program at its commits: entries that are only ever added.
//
// An entry is a file of its own in the folder of the history, a slackline dataset whose provenance names the commit. Its
// name has the time of the commit, the first letters of the commit and of the SHA-256 sum of the content:
//
//	20260412T093011Z-3f9c2ab01d77-5b1c0f29ae43.json
//
// Nothing is ever changed, so two writers do not disturb each other, branches of a repository that both added entries merge
// without a conflict, and a writer that is killed leaves at most a temporary file, which is passed over. An entry that is
// added twice is the same file. Names and sums are checked when a history is read.
package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"slackline/internal/plain"
	"slackline/model/dataset"
)

// Commit is a state of the program.
type Commit struct {
	ID      string    `json:"commit"`
	Time    time.Time `json:"time"` // decides the order
	Subject string    `json:"subject,omitempty"`
}

// Short is the name of a commit as people write it.
func (c *Commit) Short() string { return c.ID[:min(len(c.ID), 10)] }

// Entry is what was measured at a commit at one time.
type Entry struct {
	Commit
	Runs bool             // the data are of runs: what is not in them did not happen
	Data *dataset.Dataset // not nil
	Name string           // of its file
}

// record is an entry in the provenance of its dataset.
type record struct {
	Version int `json:"slackline_history"`
	Commit
	Runs    bool   `json:"runs,omitempty"`
	Tool    string `json:"tool"`
	Release string `json:"version"`
}

// Limits of what is read and written.
const (
	version    = 1
	maxEntry   = 64 << 20 // bytes
	maxID      = 128
	letters    = 12 // of commits and sums in names
	timeInName = "20060102T150405Z"
	lastYear   = 9999
)

// entryName is what entries are called.
var entryName = regexp.MustCompile(`^(\d{8}T\d{6}Z)-([0-9A-Za-z_.]+)-([0-9a-f]{12})\.json$`)

// commitID is what commits are called: sums in hexadecimal digits, tags and the revisions of other systems.
var commitID = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_./+-]*$`)

// CheckCommit refuses names that no commit has.
func CheckCommit(id string) error {
	if len(id) > maxID || !commitID.MatchString(id) {
		return fmt.Errorf("%q does not name a commit; give its hash, or a name of letters, digits, _ . / + -", plain.Name(id[:min(len(id),
			maxID)]))
	}
	return nil
}

// Encode returns the file of an entry and its name. release is the version of slackline.
func (e *Entry) Encode(release string) (name string, data []byte, err error) {
	if err := CheckCommit(e.ID); err != nil {
		return "", nil, err
	}
	at := e.Time.UTC().Truncate(time.Second)
	if at.Year() < 1970 || at.Year() > lastYear {
		return "", nil, fmt.Errorf("the time %s of the commit is not one of this era; give another with --time", at.Format(time.RFC3339))
	}
	r := record{Version: version, Commit: Commit{e.ID, at, e.Subject}, Runs: e.Runs, Tool: "slackline", Release: release}
	var b bytes.Buffer
	if err := e.Data.WriteJSON(&b, r); err != nil {
		return "", nil, err
	}
	if b.Len() > maxEntry {
		return "", nil, fmt.Errorf("the measurements take %d MiB; an entry has at most %d: choose some with --metric or --only-path",
			b.Len()>>20, maxEntry>>20)
	}
	return nameOf(e.Commit, b.Bytes()), b.Bytes(), nil
}

// nameOf is the name of an entry with this content.
func nameOf(c Commit, data []byte) string {
	short := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/+-", r) {
			return '_'
		}
		return r
	}, c.ID)
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s-%s-%s.json", c.Time.UTC().Format(timeInName), short[:min(len(short), letters)],
		hex.EncodeToString(sum[:])[:letters])
}

// Decode reads an entry.
func Decode(name string, data []byte) (*Entry, error) {
	var file struct {
		Provenance record `json:"provenance"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: is not an entry of a history: %w", name, err)
	}
	r := &file.Provenance
	switch {
	case r.Version == 0:
		return nil, fmt.Errorf("%s: is not an entry of a history: its provenance names no commit; add it with 'slackline history add'", name)
	case r.Version > version || r.Version < 0:
		return nil, fmt.Errorf("%s: is an entry of version %d; this slackline reads 1 to %d", name, r.Version, version)
	case nameOf(r.Commit, data) != name:
		return nil, fmt.Errorf("%s: its content is not what was written: %s would be its name; restore the file from the repository, or "+
			"remove it", name, nameOf(r.Commit, data))
	}
	if err := CheckCommit(r.ID); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d, _, err := dataset.Read(name, data, "slackline")
	if err != nil {
		return nil, err
	}
	r.Subject = plain.Name(r.Subject)
	return &Entry{Commit: r.Commit, Runs: r.Runs, Data: d, Name: name}, nil
}

// Read reads all entries of a folder, in the order of the commits' times. Files that are not called like entries are
// passed over.
func Read(folder fs.FS) ([]*Entry, error) {
	files, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	var entries []*Entry
	for _, f := range files {
		if !entryName.MatchString(f.Name()) {
			continue
		}
		e, err := readEntry(folder, f.Name())
		if errors.Is(err, fs.ErrNotExist) && f.Type().IsRegular() {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *Entry) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Name, b.Name)) })
	return entries, nil
}

func readEntry(folder fs.FS, name string) (*Entry, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxEntry {
		return nil, fmt.Errorf("%s: has more than %d MiB", name, maxEntry>>20)
	}
	return Decode(name, data)
}

// State is all that was measured at a commit.
type State struct {
	Commit
	Runs bool
	Data *dataset.Dataset
}

// States joins the entries of each commit: they are repetitions. The commits are in the order of their first entries.
func States(entries []*Entry) []*State {
	var states []*State
	at := map[string]*State{}
	for _, e := range entries {
		s := at[e.ID]
		if s == nil {
			s = &State{Commit: e.Commit, Data: dataset.New()}
			at[e.ID] = s
			states = append(states, s)
		}
		s.Subject = cmp.Or(s.Subject, e.Subject)
		s.Runs = s.Runs || e.Runs
		s.Data.Merge(e.Data)
	}
	return states
}
