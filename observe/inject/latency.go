package inject

import (
	"fmt"
	"math"
	"strings"

	"slackline/model/unit"
)

// latencyHelp shows how a latency is written, for messages and help texts.
const latencyHelp = "100us, 100us@0-3,1-*, 100us@0..3>4..7"

// ranks are the ranks of one side of a pair.
type ranks struct{ low, high int } // high -1: no end

// rule is a latency for messages from some ranks to some.
type rule struct {
	from, to ranks
	added    unit.Duration
}

// Latency defines which messages get how much latency. Its zero value injects none, and does not touch messages.
type Latency struct {
	text  []string
	rules []rule // the last one that fits decides
}

// given reports whether messages are touched at all.
func (l *Latency) given() bool { return len(l.rules) > 0 }

func (l *Latency) String() string { return strings.Join(l.text, " ") }

// Add reads a latency and the pairs of ranks it is for:
//
//	TIME                all messages
//	TIME@PAIR,PAIR...   messages between these ranks
//
// A pair is A-B, both directions, or A>B, from A to B only, where A and B are a rank, ranks such as 0..3, or * for all.
// A pair in a later call replaces what earlier ones defined for it.
func (l *Latency) Add(text string) error {
	timeText, pairs, some := strings.Cut(strings.TrimSpace(text), "@")
	added, err := unit.ParseDuration(timeText)
	if err != nil {
		return fmt.Errorf("%w; write e.g. %s", err, latencyHelp)
	}
	const most = 100 * unit.Second
	if added < 0 || added > most {
		return fmt.Errorf("a latency of %s is not between 0 and %s", added, unit.Duration(most))
	}
	all := ranks{0, -1}
	list := []rule{{all, all, added}}
	if some {
		list = nil
		for _, pair := range strings.Split(pairs, ",") {
			rules, err := parsePair(pair, added)
			if err != nil {
				return err
			}
			list = append(list, rules...)
		}
	}
	l.text, l.rules = append(l.text, strings.TrimSpace(text)), append(l.rules, list...)
	return nil
}

func parsePair(text string, added unit.Duration) ([]rule, error) {
	a, b, directed := strings.Cut(text, ">")
	if !directed {
		var ok bool
		if a, b, ok = strings.Cut(text, "-"); !ok {
			return nil, fmt.Errorf("expected a pair of ranks, A-B for both directions or A>B for one, got %q; write e.g. %s", text, latencyHelp)
		}
	}
	from, err := parseRanks(a)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	to, err := parseRanks(b)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	list := []rule{{from, to, added}}
	if !directed {
		list = append(list, rule{to, from, added})
	}
	return list, nil
}

func parseRanks(text string) (ranks, error) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return ranks{0, -1}, nil
	}
	low, high, err := unit.ParseInterval(text)
	if err != nil || high > math.MaxInt32 || strings.Contains(text, "-") {
		return ranks{}, fmt.Errorf("expected a rank, a range such as 0..3, or *, got %q", text)
	}
	return ranks{low, high}, nil
}

// uniform is the latency of all messages, if it is the same for all.
func (l *Latency) uniform() (unit.Duration, bool) {
	if len(l.rules) != 1 || l.rules[0].from.high >= 0 || l.rules[0].to.high >= 0 {
		return 0, false
	}
	return l.rules[0].added, true
}

// most is the largest latency.
func (l *Latency) most() (d unit.Duration) {
	for _, r := range l.rules {
		d = max(d, r.added)
	}
	return d
}

// highest is the highest rank that is named.
func (l *Latency) highest() (rank int) {
	for _, r := range l.rules {
		rank = max(rank, r.from.low, r.from.high, r.to.low, r.to.high)
	}
	return rank
}

// shimRules writes the rules for the library, which takes the first one that fits.
func (l *Latency) shimRules() string {
	var parts []string
	for i := len(l.rules) - 1; i >= 0; i-- {
		r := l.rules[i]
		parts = append(parts, fmt.Sprintf("%d %d %d %d %d", r.from.low, r.from.high, r.to.low, r.to.high, nanoseconds(r.added)))
	}
	return strings.Join(parts, ";")
}

// nanoseconds rounds half up.
func nanoseconds(d unit.Duration) int64 {
	return int64(math.Floor(float64(d)/float64(unit.Nanosecond) + 0.5))
}

// Selective reports whether not all messages get the same latency.
func (l *Latency) Selective() bool {
	_, uniform := l.uniform()
	return l.given() && !uniform
}
