package noise

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"

	"slackline/internal/yamlfile"
)

var netgaugeFormat = Format{
	Name: "netgauge", Info: "output of Netgauge's pattern noise", Text: true,
	Sniff: func(line string) bool {
		text, ok := comment(line)
		return ok && hasAnyPrefix(text, "Benchmark Method:", "Selfish Benchmark", "Fixed Work Quantum", "Fixed Time Quantum")
	},
	Read: readNetgauge,
}

// readNetgauge reads the output of Netgauge's pattern "noise" with the method selfish: comments,
// among them the names and units of the columns, then a line with the start and the length of each
// detour.
//
//	# Selfish Benchmark
//	# Minimal cycle length [ns]: 3.740000
//	# Time [ns]	selfish duration [ns]
//	0.00	1843.21
//
// Times count from the first detour. The period is what was measured: from there to the end of the
// last detour and the loop around it. A fraction of a nanosecond is rounded half up. (LogGOPSim
// itself reads such a file as its text format and takes the start of the last detour for the
// period.)
func readNetgauge(name string, data []byte, _ openTrace) (*Profile, error) {
	s := &lineScanner{file: name, text: data}
	t := &Trace{}
	var about []string
	startUnit, lengthUnit := int64(1), int64(1) // in ns
	cycle := int64(0)
	seenColumns := false
	odd, oddText := 0, "" // the first line after the names of the columns that is not a detour
	for text := range s.lines() {
		comment, isComment := strings.CutPrefix(text, "#")
		comment = strings.TrimSpace(comment)
		switch {
		case text == "":
		case !isComment && !seenColumns && !startsWithDigit(text):
			// What the program printed to the terminal before, if that was kept.
		case !isComment && startsWithDigit(text) && !seenColumns:
			return nil, s.errorf("a detour comes before the line \"# Time [ns] ...\" with the units of the columns")
		case !isComment && startsWithDigit(text):
			if odd > 0 {
				return nil, &FileError{name, odd, fmt.Sprintf("%s is not the start and the length of a detour", yamlfile.Quote(oddText))}
			}
			if err := s.addNetgauge(t, text, startUnit, lengthUnit); err != nil {
				return nil, err
			}
		case !isComment && looksLikeDetour(text):
			return nil, s.errorf("%s is not the start and the length of a detour", yamlfile.Quote(text))
		case !isComment:
			// Its summary, likewise, if no detour follows.
			if odd == 0 {
				odd, oddText = s.line, text
			}
		case strings.HasPrefix(comment, "Fixed "):
			return nil, s.errorf("is output of a benchmark that records no detours (%s); run netgauge -x noise -e selfish", comment)
		case strings.HasPrefix(comment, "Time [") || strings.HasPrefix(comment, "Time("):
			seenColumns = true
			var err error
			if startUnit, lengthUnit, err = netgaugeUnits(comment); err != nil {
				return nil, s.errorf("%s", err)
			}
		case strings.HasPrefix(comment, "Minimal cycle length"):
			var err error
			if cycle, err = parseNS(strings.TrimSpace(comment[strings.LastIndexByte(comment, ':')+1:])); err != nil {
				return nil, s.errorf("the minimal cycle length %v", err)
			}
			about = append(about, comment)
		case strings.HasPrefix(comment, "Threshold"), strings.HasPrefix(comment, "Nodename"), strings.HasPrefix(comment, "Release"):
			about = append(about, comment)
		}
	}
	if len(t.List) == 0 {
		return nil, s.errorf("holds no detour; a machine without any is the profile cnk")
	}
	first := t.List[0].Start
	for i := range t.List {
		t.List[i].Start -= first
	}
	last := t.List[len(t.List)-1]
	t.Period = last.Start + last.Length + cycle
	if len(t.List) == 1 || last.Start == 0 {
		return nil, s.errorf("holds a single detour; at least two are needed to know how often they come")
	}
	p, err := traceProfile(name, "", t)
	if err != nil {
		return nil, err
	}
	p.Note = fmt.Sprintf("Recorded by Netgauge (selfish), read from %s. %s", filepath.Base(name), strings.Join(about, ". "))
	p.Note = strings.TrimSpace(p.Note)
	return p, nil
}

// looksLikeDetour reports whether a line consists of two words with numbers in them: a detour that is damaged.
func looksLikeDetour(text string) bool {
	words := strings.Fields(text)
	return len(words) == 2 && strings.ContainsAny(words[0], "0123456789") && strings.ContainsAny(words[1], "0123456789")
}

// addNetgauge adds the detour of a line.
func (s *lineScanner) addNetgauge(t *Trace, text string, startUnit, lengthUnit int64) error {
	words := strings.Fields(text)
	if len(words) != 2 {
		return s.errorf("%s is not the start and the length of a detour", yamlfile.Quote(text))
	}
	start, ok1 := scaledNS(words[0], startUnit)
	length, ok2 := scaledNS(words[1], lengthUnit)
	switch {
	case !ok1 || !ok2:
		return s.errorf("%s is not the start and the length of a detour", yamlfile.Quote(text))
	case len(t.List) > 0 && start < t.List[len(t.List)-1].Start:
		return s.errorf("the detour starts before the one before it; the file is not as Netgauge wrote it")
	case start > maxSpan || length > maxSpan:
		return s.errorf("the times are out of range")
	case len(t.List) == MaxDetours:
		return s.errorf("has more than %d detours", MaxDetours)
	}
	t.List = append(t.List, Detour{start, length})
	return nil
}

// netgaugeUnits returns the units of the two columns in ns.
func netgaugeUnits(comment string) (start, length int64, err error) {
	units := map[string]int64{"ns": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}
	var found []int64
	for rest := comment; ; {
		_, after, ok := strings.Cut(rest, "[")
		if !ok {
			break
		}
		word, after, ok := strings.Cut(after, "]")
		if !ok {
			break
		}
		if units[word] == 0 {
			return 0, 0, fmt.Errorf("the unit %s cannot be read (known: ns, us, ms, s); convert it first", yamlfile.Quote(word))
		}
		found = append(found, units[word])
		rest = after
	}
	switch len(found) {
	case 1:
		return found[0], found[0], nil
	case 2:
		return found[0], found[1], nil
	}
	return 0, 0, fmt.Errorf("the units of the columns are missing")
}

// scaledNS reads a decimal number of units of so many ns and returns picoseconds, rounded half up
// to whole nanoseconds.
func scaledNS(text string, unit int64) (int64, bool) {
	if !isDecimal(text) {
		return 0, false
	}
	if unit == 1 {
		ps, err := parseNS(text)
		return ps, err == nil
	}
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	x.Mul(x, new(big.Rat).SetInt64(unit))
	x.Add(x, big.NewRat(1, 2))
	ns := new(big.Int).Div(x.Num(), x.Denom())
	if !ns.IsInt64() || ns.Int64() > maxNS {
		return 0, false
	}
	return ns.Int64() * 1000, true
}

func startsWithDigit(text string) bool {
	return text != "" && (text[0] >= '0' && text[0] <= '9' || text[0] == '.' || text[0] == '-')
}
