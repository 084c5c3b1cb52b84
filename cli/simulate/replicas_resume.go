package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"slackline/analyze/whatif"
	"slackline/cli/scenario"
	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
)

// loadKnown returns the finished replicas of a file, none if there is no file.
func (r *seriesRun) loadKnown(path string) (*whatif.Checkpoint, error) {
	properties, err := r.properties()
	if err != nil {
		return nil, err
	}
	f, err := source.Kept(path)
	if errors.Is(err, fs.ErrNotExist) {
		return whatif.NewCheckpoint(properties), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return whatif.ReadCheckpoint(path, f, properties)
}

// properties are what the time of a replica depends on, beside the number of
// ranks and its own number.
func (r *seriesRun) properties() ([]whatif.Property, error) {
	var list []whatif.Property
	add := func(name, value string) {
		if value != "" {
			list = append(list, whatif.Property{Name: name, Value: value})
		}
	}
	switch {
	case r.input.Replay != nil:
		digest, err := scenario.ProgramDigest(r.input.Replay)
		if err != nil {
			return nil, err
		}
		add("input", r.input.Format+" "+digest)
	case r.input.IsFile():
		add("input", r.input.Format+" "+r.input.Record.SHA256)
	default:
		add("input", r.input.Pattern)
		for _, p := range pattern.Parameters() {
			if p.Name == "ranks" || p.Name == "seed" {
				continue
			}
			add(p.Name, r.parameters[p.Name])
		}
	}
	add("machine", string(machine.Format(r.scenario.Machine)))
	add("model", string(r.Machine.Model()))
	if r.Program.Mapped(r.input) {
		mapping, err := scenario.MappingDigest(r.Mapping)
		if err != nil {
			return nil, err
		}
		add("mapping", mapping)
	}
	n := &r.series.Noise
	digest, err := traceDigest(n)
	if err != nil {
		return nil, err
	}
	add("noise", digest)
	if n.Profile != nil {
		add("offsets", r.offsetsWord())
	}
	add("noise-clock", r.Noise.OtherClock())
	add("noise-ranks", r.Noise.Only.String())
	var delays []string
	for _, d := range r.Noise.Delays {
		delays = append(delays, fmt.Sprintf("%d@%s:%s", d.Rank, d.From, d.Length))
	}
	add("delay", strings.Join(delays, ","))
	add("seed", strconv.FormatUint(r.Program.Seed, 10))
	return list, nil
}

// offsetsWord says where the offsets of the ranks come from.
func (r *seriesRun) offsetsWord() string {
	if r.series.Noise.AtZero {
		return "zero"
	}
	return r.Noise.Align
}

// traceDigest names noise by its profile and by what is in its trace.
func traceDigest(n *whatif.Noise) (string, error) {
	trace, err := n.Trace()
	if err != nil || trace == nil {
		return "", err
	}
	hash := sha256.New()
	if err := noise.WriteBinary(hash, trace, "", ""); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (%s)", n.Profile.Name, hex.EncodeToString(hash.Sum(nil))[:12]), nil
}
