// Package provenance records where a result comes from: which program, called
// how, with which inputs, where and when.
package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// version is set by the linker in released builds (-X).
var version string

// A Record accompanies a result.
type Record struct {
	Tool     string   `json:"tool"`
	Version  string   `json:"version"`
	Command  []string `json:"command"` // as typed, without the name of the program
	Inputs   []Input  `json:"inputs"`
	Machine  any      `json:"machine,omitempty"`
	Seed     *uint64  `json:"seed,omitempty"` // nil: nothing was random
	Host     string   `json:"host"`
	Time     string   `json:"time"` // UTC, RFC 3339
	Warnings []string `json:"warnings"`
	Cluster  *Cluster `json:"cluster,omitempty"` // nil: one process did it
}

// A Cluster is the processes that did the work together, and what they exchanged.
type Cluster struct {
	Processes int   `json:"processes"`
	Exchanges int64 `json:"exchanges"` // in which all took part
	Messages  int64 `json:"messages"`  // from one to another, of all processes
	Bytes     int64 `json:"bytes"`     // from one to another, in exchanges and messages

	Alone string `json:"alone,omitempty"` // why process 0 did it without the others in the end

	// Of one simulation that they shared.
	Rounds     int64   `json:"rounds,omitempty"`             // exchanges that ended a window, or a part of one
	Crossed    int64   `json:"crossed,omitempty"`            // simulated messages from one process to another
	PeakMemory int64   `json:"peak_memory,omitempty"`        // bytes of the process that had most
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`        // of the process that took most
	AllSeconds float64 `json:"cpu_seconds_of_all,omitempty"` // of all together
}

// An Input is something that was read.
type Input struct {
	Path   string `json:"path"`            // "-" is the standard input
	Kind   string `json:"kind"`            // what it was taken for, e.g. "GOAL text"
	Bytes  int64  `json:"bytes,omitempty"` // of a file
	SHA256 string `json:"sha256,omitempty"`
}

// New returns a record of this program, called with args, here and now.
func New(args []string) *Record {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Record{
		Tool:     "slackline",
		Version:  Version(),
		Command:  append([]string{}, args...),
		Inputs:   []Input{},
		Host:     host,
		Time:     time.Now().UTC().Format(time.RFC3339),
		Warnings: []string{},
	}
}

// Version is the version of the program: what the linker was given, else the
// version of the module, else the commit it was built from.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + modified
}

// Platform is what the program was built with and for.
func Platform() string {
	return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}

// A Meter is a reader that counts and hashes what passes through it.
type Meter struct {
	r    io.Reader
	hash hash.Hash
	n    int64
}

// NewMeter returns a meter on r.
func NewMeter(r io.Reader) *Meter { return &Meter{r: r, hash: sha256.New()} }

// Read implements io.Reader.
func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	return n, err
}

// Sum returns the number of bytes read so far and their SHA-256 in hexadecimal.
func (m *Meter) Sum() (int64, string) { return m.n, hex.EncodeToString(m.hash.Sum(nil)) }
