package campaign

import (
	"encoding/json"
	"fmt"
	"time"
)

// The journal of a campaign has a head, a line for each start of the campaign, and one for each begin
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

// VersionOutput is what a command of versions said.
type VersionOutput struct {
	Command string `json:"command"`
	Output  string `json:"output"`
}

// beginLine says that an attempt begins.
type beginLine struct {
	Event   string   `json:"event"`
	Run     string   `json:"run"`
	Attempt int      `json:"attempt"`
	Time    string   `json:"time"`
	Command []string `json:"command"`
}

// End is how an attempt ended.
type End struct {
	Event  string  `json:"event"`
	Run    string  `json:"run"`
	Status Status  `json:"status"`
	Reason string  `json:"reason,omitempty"`
	Cores  float64 `json:"cores"`
	result
}

// Status says what became of a run.
type Status string

// What can become of a run.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	TimedOut    Status = "timeout"
	Interrupted Status = "interrupted" // by the user; it is run again
	Lost        Status = "lost"        // nobody knows; it is run again
	Unread      Status = "unread"      // it ended well, but its output could not be read
)

// MarshalJSON keeps the members of the result, of which Status and Reason would hide those of the End.
func (e End) MarshalJSON() ([]byte, error) {
	return json.Marshal(endJSON{
		e.Event, e.Run, e.Attempt, e.Status, e.Reason, e.Exit, e.Cores, e.Begin, e.Wall, e.CPU, e.MaxRSS, e.Host,
	})
}

// UnmarshalJSON is the reverse.
func (e *End) UnmarshalJSON(data []byte) error {
	var j endJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = End{Event: j.Event, Run: j.Run, Status: j.Status, Reason: j.Reason, Cores: j.Cores,
		result: result{Attempt: j.Attempt, Exit: j.Exit, Begin: j.Begin, Wall: j.Wall, CPU: j.CPU, MaxRSS: j.MaxRSS, Host: j.Host}}
	return nil
}

type endJSON struct {
	Event   string  `json:"event"`
	Run     string  `json:"run"`
	Attempt int     `json:"attempt"`
	Status  Status  `json:"status"`
	Reason  string  `json:"reason,omitempty"`
	Exit    int     `json:"exit"`
	Cores   float64 `json:"cores"`
	Begin   string  `json:"begin,omitempty"`
	Wall    float64 `json:"wall_s"`
	CPU     float64 `json:"cpu_s"`
	MaxRSS  int64   `json:"max_rss_bytes"`
	Host    string  `json:"host,omitempty"`
}

// history is what the journal knows of a run.
type history struct {
	attempts int
	open     bool // the last attempt has no end
	end      *End // of the last attempt that has one
}

// state is what the journal says.
type state struct {
	head     *headLine
	sessions []Session
	runs     map[string]*history
	used     float64 // core seconds
}

func newState() *state { return &state{runs: map[string]*history{}} }

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
	s := newState()
	for i, line := range lines {
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		if i == 0 && s.head == nil {
			return nil, fmt.Errorf("%s:1: is no journal of a campaign", name)
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
	switch kind.Event {
	case eventHead:
		s.head = &headLine{}
		if err := json.Unmarshal(line, s.head); err != nil {
			return err
		}
		if s.head.Version != journalVersion {
			return fmt.Errorf("has version %d; this slackline reads %d", s.head.Version, journalVersion)
		}
	case eventSession:
		var l Session
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		s.sessions = append(s.sessions, l)
	case eventBegin:
		var l beginLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		s.begin(&l)
	case eventEnd:
		var l End
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		s.end(&l)
	default:
		return fmt.Errorf("the event %q is not known; the file is of a newer slackline", kind.Event)
	}
	return nil
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
