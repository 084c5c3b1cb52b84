package campaign

import (
	"encoding/json"
	"fmt"
	"time"
)

// The journal of a campaign has a head, a line for each start of the campaign, and one for each start
// and each end of a run.

const journalVersion = 1

// The events of the journal.
const (
	eventHead    = "head"
	eventSession = "session"
	eventBegin   = "begin"
	eventEnd     = "end"
)

// headLine is the first line.
type headLine struct {
	Version   int    `json:"slackline_campaign"`
	Event     string `json:"event"`
	Seed      uint64 `json:"seed"`
	Signature string `json:"what"`
}

// Session is a start of the campaign: where, with which versions.
type Session struct {
	Event    string          `json:"event"`
	Time     string          `json:"time"`
	Host     string          `json:"host"`
	Tool     string          `json:"version"` // of slackline
	Platform string          `json:"platform"`
	PlanHash string          `json:"plan_sha256"`
	Versions []VersionOutput `json:"versions,omitempty"`
}

// VersionOutput is what a command of versions printed.
type VersionOutput struct {
	Command string `json:"command"`
	Output  string `json:"output"`
}

// beginLine notes that an attempt starts.
type beginLine struct {
	Event   string   `json:"event"`
	Run     string   `json:"run"`
	Attempt int      `json:"attempt"`
	Time    string   `json:"time"`
	Command []string `json:"command"`
}

// End is how an attempt ended. In JSON its status and reason take the place of those of the result.
type End struct {
	Event  string  `json:"event"`
	Run    string  `json:"run"`
	Status Status  `json:"status"`
	Reason string  `json:"reason,omitempty"`
	Cores  float64 `json:"cores"`
	Output string  `json:"output_crc32c,omitempty"` // checksum of what a run that ended well wrote to its standard output and error
	result
}

// Status is what became of a run.
type Status string

// What can become of a run.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	TimedOut    Status = "timeout"
	Interrupted Status = "interrupted" // by the user; it is run again
	Lost        Status = "lost"        // unknown; it is run again
	Unread      Status = "unread"      // it ended well, but its output could not be read
)

// history is what the journal knows of a run.
type history struct {
	attempts int
	open     bool // the last attempt has no end
	end      *End // of the last attempt that has one
}

// ok reports whether the last attempt that has ended, ended well.
func (h *history) ok() bool { return h != nil && h.end != nil && h.end.Status == OK }

// state is what the journal contains.
type state struct {
	head     *headLine
	sessions []Session
	runs     map[string]*history
	used     float64 // core seconds
}

// run returns the history of a run.
func (s *state) run(name string) *history {
	h := s.runs[name]
	if h == nil {
		h = &history{}
		s.runs[name] = h
	}
	return h
}

// replay reads the lines of a journal.
func replay(name string, lines [][]byte) (*state, error) {
	s := &state{runs: map[string]*history{}}
	for i, line := range lines {
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		if i == 0 && s.head == nil {
			return nil, fmt.Errorf("%s:1: expected the journal of a campaign", name)
		}
	}
	return s, nil
}

func (s *state) line(line []byte) error {
	var kind struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return err
	}
	var err error
	switch kind.Event {
	case eventHead:
		s.head = &headLine{}
		if err = json.Unmarshal(line, s.head); err == nil && s.head.Version != journalVersion {
			err = fmt.Errorf("has version %d; this slackline reads %d", s.head.Version, journalVersion)
		}
	case eventSession:
		s.sessions = append(s.sessions, Session{})
		err = json.Unmarshal(line, &s.sessions[len(s.sessions)-1])
	case eventBegin:
		var l beginLine
		if err = json.Unmarshal(line, &l); err == nil {
			s.begin(&l)
		}
	case eventEnd:
		var l End
		if err = json.Unmarshal(line, &l); err == nil {
			s.end(&l)
		}
	default:
		err = fmt.Errorf("the event %q is unknown; the file is of a newer slackline", kind.Event)
	}
	return err
}

func (s *state) begin(l *beginLine) {
	h := s.run(l.Run)
	h.attempts, h.open = max(h.attempts, l.Attempt), true
}

// end notes the end of an attempt. One that is read again later, see Unread, counts once.
func (s *state) end(l *End) {
	h := s.run(l.Run)
	if h.open || h.end == nil || h.end.Attempt != l.Attempt {
		s.used += l.Cores * l.Wall
	}
	h.end, h.open = l, false
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }
