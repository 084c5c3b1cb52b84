package noise

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// Profile is a description of noise: one part, or a mixture of several. Without parts there is no
// noise.
type Profile struct {
	Name string
	// Note describes what the profile is: where it comes from; of a model what was given, what was
	// inferred from what, and what was left to test.
	Note  string
	Parts []Part
}

// Kind is the kind of a part.
type Kind uint8

// The kinds.
const (
	KindTrace    Kind = iota // a list of detours with a period
	KindPeriodic             // a detour every so often
	KindPoisson              // detours that begin at random, independent of each other
)

// Part is one source of noise.
type Part struct {
	Label string // name of the source; empty: Spec
	Kind  Kind

	Every  int64   // time between begins of detours, the mean for KindPoisson
	Length Lengths // of the detours of KindPeriodic and KindPoisson
	Phase  int64   // start of the first detour of KindPeriodic, in [0, Every)
	// Jitter of KindPeriodic: each detour is late by an amount of its own, uniform in [0, Jitter)
	// times Every. From 0 to 1.
	Jitter float64

	Trace *Trace // of KindTrace
}

// Trace is a list of detours with a period.
type Trace struct {
	Period int64
	List   []Detour
	Of     []int32  // source of each detour; nil: all of the part's label
	Labels []string // names of the sources; needed with Of
}

// Spec returns the part as Parse reads it; of a trace only how large it is.
func (p *Part) Spec() string {
	switch p.Kind {
	case KindTrace:
		if p.Trace == nil {
			return "trace"
		}
		return fmt.Sprintf("trace of %d detours in %s", len(p.Trace.List), unit.Duration(p.Trace.Period).Short())
	case KindPoisson:
		return "poisson:" + formatRate(p.Every) + ":" + p.Length.String()
	}
	text := formatRate(p.Every) + ":" + p.Length.String()
	if p.Jitter != 0 {
		text += ",jitter=" + strconv.FormatFloat(p.Jitter*100, 'g', 15, 64) + "%"
	}
	if p.Phase != 0 {
		text += ",phase=" + unit.Duration(p.Phase).String()
	}
	return text
}

// Spec returns the parts joined by +.
func (p *Profile) Spec() string {
	words := make([]string, len(p.Parts))
	for i := range p.Parts {
		words[i] = p.Parts[i].Spec()
	}
	return strings.Join(words, "+")
}

// label returns the name of the part as a source of noise.
func (p *Part) label() string {
	if p.Label != "" {
		return p.Label
	}
	return p.Spec()
}

// exact reports whether the part leaves nothing to chance.
func (p *Part) exact() bool {
	_, fixed := p.Length.(Fixed)
	return p.Kind == KindTrace || p.Kind == KindPeriodic && fixed && p.Jitter == 0
}

// load is the share of CPU time that the part takes, without regard to overlaps.
func (p *Part) load() float64 {
	if p.Kind != KindTrace {
		return p.Length.Mean() / float64(p.Every)
	}
	sum := 0.0
	for _, d := range p.Trace.List {
		sum += float64(d.Length)
	}
	return sum / float64(p.Trace.Period)
}

// Check returns an error if the profile makes no sense.
func (p *Profile) Check() error {
	load := 0.0
	for i := range p.Parts {
		if err := p.Parts[i].check(); err != nil {
			return fmt.Errorf("noise: part %d of %s: %w", i+1, p.title(), err)
		}
		load += p.Parts[i].load()
	}
	if load >= 1 && len(p.Parts) > 0 {
		for i := range p.Parts {
			if p.Parts[i].Kind != KindTrace {
				return fmt.Errorf("noise: %s takes %.4g %% of the CPU time: no work would ever end; make the detours shorter or rarer",
					p.title(), load*100)
			}
		}
	}
	return nil
}

func (p *Profile) title() string {
	if p.Name != "" {
		return "profile " + yamlfile.Quote(p.Name)
	}
	return "the profile"
}

func (p *Part) check() error {
	if p.Kind == KindTrace {
		return p.Trace.check()
	}
	if p.Every <= 0 || p.Every > maxSpan {
		return fmt.Errorf("the time between detours is %d ps; it must be above 0 and at most %s", p.Every, unit.Duration(maxSpan).Short())
	}
	if p.Length == nil {
		return errors.New("the lengths of the detours are missing")
	}
	if err := p.Length.check(); err != nil {
		return err
	}
	if p.Kind == KindPoisson {
		if p.Phase != 0 || p.Jitter != 0 {
			return errors.New("random arrivals have neither phase nor jitter; leave them out")
		}
		return nil
	}
	if fixed, ok := p.Length.(Fixed); ok && int64(fixed) >= p.Every {
		return fmt.Errorf("a detour of %s every %s leaves no CPU time: no work would ever end",
			unit.Duration(fixed), unit.Duration(p.Every))
	}
	if p.Phase < 0 || p.Phase >= p.Every {
		return fmt.Errorf("the phase of %s is not in [0, %s)", unit.Duration(p.Phase), unit.Duration(p.Every))
	}
	if math.IsNaN(p.Jitter) || p.Jitter < 0 || p.Jitter > 1 {
		return fmt.Errorf("the jitter of %g %% is not in [0, 100 %%]", p.Jitter*100)
	}
	return nil
}

func (t *Trace) check() error {
	if t == nil {
		return errors.New("the trace is missing")
	}
	_, err := NewLabeled(t.Period, t.List, t.Of, t.labels("noise"))
	return err
}

// labels returns the names of the sources, with a name for those that have none.
func (t *Trace) labels(fallback string) []string {
	if len(t.Labels) == 0 {
		return []string{fallback}
	}
	return t.Labels
}
