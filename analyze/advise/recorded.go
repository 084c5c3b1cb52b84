package advise

import (
	"fmt"
	"path/filepath"

	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Flags are the flags of a machine with one class of links, such as Estimate gives.
func Flags(m *machine.Machine) []string {
	p := &m.Classes[machine.Far]
	words := []string{"-L", p.Latency.String(), "-o", p.Overhead[0].Value.String(), "-g", p.Gap.String(), "-G", p.PerByte[0].Value.String()}
	if p.Eager != machine.NoLimit {
		words = append(words, "-S", unit.Size(p.Eager).String())
	}
	return words
}

// SourceOf finds where the code of a call path is.
func SourceOf(tl *timeline.Timeline) func(callPath string) string {
	at := map[string]string{}
	for i := 1; i < len(tl.Paths); i++ {
		if r := tl.RegionOf(timeline.PathID(i)); r != nil && r.File != "" {
			at[tl.PathName(timeline.PathID(i))] = fmt.Sprintf("%s:%d", filepath.Base(r.File), r.Line)
		}
	}
	return func(callPath string) string { return at[callPath] }
}
