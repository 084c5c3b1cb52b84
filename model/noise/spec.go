package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// SpecHelp defines how a specification is written, for messages and help texts.
const SpecHelp = "1000Hz:100us, 10Hz:2.5ms,jitter=20%, poisson:0.5Hz:exp:220us, joined by +"

// Parse reads a specification of noise: parts joined by "+". A part is
//
//	RATE:LENGTH[,jitter=20%][,phase=1ms][,label=NAME]    a detour every so often
//	poisson:RATE:LENGTH[,label=NAME]                     detours that begin at random
//
// RATE is a frequency (1000Hz, 0.14Hz, 2.5kHz) or the time between detours (1ms). A frequency whose
// period is not a whole number of picoseconds is rounded half up to one, once: 3Hz is a period of
// 333333333333 ps. The first detour of a regular part begins at trace time 0, or at its phase.
// LENGTH is one of
//
//	100us                       all have this length
//	uniform:1us:8us             all lengths between two are equally likely
//	exp:220us                   exponential with this mean
//	pareto:1us:1.5[:10ms]       scale, shape and bound (without one 1000 times the scale)
//	list:1us:2us:2us            measured lengths, each equally likely
//
// The name of the profile is the specification as it was given.
func Parse(spec string) (*Profile, error) {
	p := &Profile{Name: strings.TrimSpace(spec)}
	if p.Name == "" {
		return nil, fmt.Errorf("noise: the specification is empty; write e.g. %s", SpecHelp)
	}
	for _, text := range strings.Split(p.Name, "+") {
		part, err := parsePart(text)
		if err == nil {
			err = part.check()
		}
		if err != nil {
			return nil, fmt.Errorf("noise: %s: %w", yamlfile.Quote(text), err)
		}
		p.Parts = append(p.Parts, part)
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	return p, nil
}

// looksLikeSpec reports whether a word is meant as a specification, right or wrong.
func looksLikeSpec(word string) bool {
	return strings.Contains(word, ":") && !strings.ContainsAny(word, `/\`)
}

func parsePart(text string) (part Part, err error) {
	words := strings.Split(text, ",")
	head := strings.TrimSpace(words[0])
	part.Kind = KindPeriodic
	if rest, ok := strings.CutPrefix(head, "poisson:"); ok {
		part.Kind, head = KindPoisson, rest
	}
	rate, length, ok := strings.Cut(head, ":")
	if !ok {
		return part, fmt.Errorf("rate and length must be joined by a colon; write e.g. %s", SpecHelp)
	}
	if part.Every, err = parseRate(rate); err != nil {
		return part, err
	}
	if part.Length, err = parseLengths(length); err != nil {
		return part, err
	}
	seen := map[string]bool{}
	for _, option := range words[1:] {
		key, value, ok := strings.Cut(strings.TrimSpace(option), "=")
		if !ok {
			return part, fmt.Errorf("option %s has no value; write jitter=20%%, phase=1ms or label=NAME", yamlfile.Quote(option))
		}
		if seen[key] {
			return part, fmt.Errorf("option %s is given twice", key)
		}
		seen[key] = true
		if err := part.setOption(key, value); err != nil {
			return part, err
		}
	}
	return part, nil
}

func (p *Part) setOption(key, value string) (err error) {
	switch key {
	case "jitter":
		p.Jitter, err = parsePercent(value)
	case "phase":
		var d unit.Duration
		if d, err = unit.ParseDuration(value); err != nil {
			return fmt.Errorf("phase: %w", err)
		}
		p.Phase = int64(d)
	case "label":
		if p.Label = value; value == "" {
			return errors.New("the label is empty")
		}
	default:
		known := []string{"jitter", "label", "phase"}
		return fmt.Errorf("unknown option %s%s (known: %s)", yamlfile.Quote(key), suggest.Phrase(key, known), strings.Join(known, ", "))
	}
	return err
}

// parsePercent reads "20%" or "0.2" as 0.2.
func parsePercent(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
		return 0, fmt.Errorf("jitter %s is not a share from 0%% to 100%%", yamlfile.Quote(text))
	}
	return x, nil
}

// parseRate reads a frequency (1000Hz, 0.14Hz, 2.5kHz) or a time (1ms) and returns the time between
// two events in picoseconds, rounded half up.
func parseRate(text string) (int64, error) {
	text = strings.TrimSpace(text)
	number, isFrequency := strings.CutSuffix(text, "Hz")
	if !isFrequency {
		d, err := unit.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("rate %s is neither a frequency such as 1000Hz nor the time between two detours such as 1ms", yamlfile.Quote(text))
		}
		if d <= 0 || d > maxSpan {
			return 0, fmt.Errorf("the time between two detours is %s; it must be above 0 and at most %s", d, unit.Duration(maxSpan).Short())
		}
		return int64(d), nil
	}
	scale := int64(1)
	if rest := strings.TrimRight(number, "kMG"); len(rest) == len(number)-1 {
		scale = map[byte]int64{'k': 1e3, 'M': 1e6, 'G': 1e9}[number[len(rest)]]
		number = rest
	}
	number = strings.TrimSpace(number)
	if !isDecimal(number) {
		return 0, fmt.Errorf("frequency %s is not a number with Hz, kHz, MHz or GHz", yamlfile.Quote(text))
	}
	hertz, _ := new(big.Rat).SetString(number)
	if hertz.Sign() == 0 {
		return 0, fmt.Errorf("frequency %s must be above 0", yamlfile.Quote(text))
	}
	period := new(big.Rat).SetInt64(1e12)
	period.Quo(period, hertz.Mul(hertz, new(big.Rat).SetInt64(scale)))
	period.Add(period, big.NewRat(1, 2))
	ps := new(big.Int).Div(period.Num(), period.Denom())
	if !ps.IsInt64() || ps.Int64() > maxSpan || ps.Sign() == 0 {
		return 0, fmt.Errorf("frequency %s has a period that is not within 1 ps and %s", yamlfile.Quote(text), unit.Duration(maxSpan).Short())
	}
	return ps.Int64(), nil
}

// isDecimal reports whether text is a plain number such as 12 or 0.14, of a sensible length.
func isDecimal(text string) bool {
	whole, fraction, _ := strings.Cut(text, ".")
	return len(text) <= 40 && whole+fraction != "" && strings.Trim(whole+fraction, "0123456789") == ""
}

// formatRate returns the time between two events, given in picoseconds, as ParseRate reads it: as a
// frequency if that is a short number, else as a time.
func formatRate(every int64) string {
	for decimals := 0; decimals <= 6; decimals++ {
		text := strconv.FormatFloat(1e12/float64(every), 'f', decimals, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		text += "Hz"
		if back, err := parseRate(text); err == nil && back == every {
			return text
		}
	}
	return unit.Duration(every).String()
}

// parseLengths reads a distribution of lengths, as in a specification.
func parseLengths(text string) (Lengths, error) {
	words := strings.Split(text, ":")
	name := strings.TrimSpace(words[0])
	values := words[1:]
	var lengths Lengths
	var err error
	list := func(least, most int) []int64 {
		if len(values) < least || len(values) > most {
			err = fmt.Errorf("%s has %d values; write uniform:1us:8us, exp:220us, pareto:1us:1.5 or list:1us:2us", yamlfile.Quote(name), len(values))
			return make([]int64, most)
		}
		out := make([]int64, len(values))
		for i, v := range values {
			d, e := unit.ParseDuration(strings.TrimSpace(v))
			if out[i] = int64(d); e != nil && err == nil {
				err = e
			}
		}
		return out
	}
	switch name {
	case "uniform":
		v := list(2, 2)
		lengths = Uniform{v[0], v[1]}
	case "exp":
		lengths = Exponential{list(1, 1)[0]}
	case "list":
		lengths = Empirical(list(1, max(1, len(values))))
	case "pareto":
		lengths, err = parsePareto(values)
	default:
		if len(values) > 0 {
			known := []string{"exp", "list", "pareto", "uniform"}
			return nil, fmt.Errorf("unknown distribution of lengths %s%s (known: %s)", yamlfile.Quote(name), suggest.Phrase(name, known),
				strings.Join(known, ", "))
		}
		var d unit.Duration
		d, err = unit.ParseDuration(name)
		lengths = Fixed(d)
	}
	if err == nil {
		err = lengths.check()
	}
	if err != nil {
		return nil, fmt.Errorf("length %s: %w", yamlfile.Quote(text), err)
	}
	return lengths, nil
}

func parsePareto(values []string) (l Pareto, err error) {
	if len(values) != 2 && len(values) != 3 {
		return l, errors.New("a Pareto distribution needs a scale, a shape and optionally a bound: pareto:1us:1.5:10ms")
	}
	scale, err := unit.ParseDuration(values[0])
	if err != nil {
		return l, err
	}
	l.Scale = int64(scale)
	if l.Shape, err = strconv.ParseFloat(values[1], 64); err != nil {
		return l, fmt.Errorf("shape %s is not a number", yamlfile.Quote(values[1]))
	}
	if len(values) == 3 {
		bound, err := unit.ParseDuration(values[2])
		l.Max = int64(bound)
		return l, err
	}
	if l.Scale > maxSpan/ParetoCut {
		return l, errors.New("the scale of a Pareto distribution is too large for the usual bound; give one")
	}
	l.Max = ParetoCut * l.Scale
	return l, nil
}
