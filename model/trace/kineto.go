package trace

import (
	"io/fs"
	"path"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/kineto"
)

var kinetoFormat = Format{
	Name: "kineto", Noun: "a trace of the PyTorch profiler", Info: "JSON of the PyTorch profiler (Kineto): a file, or a directory " +
		"with one for each rank",
	Text: true, Sniff: kineto.Sniff, Among: kineto.Names, read: readKineto,
}

// readKineto reads the files of a trace. Its events are those of its timeline.
func readKineto(src source, o Options) (*Trace, error) {
	names := []string{path.Base(src.main)}
	if src.inDir {
		entries, err := fs.ReadDir(src.fsys, path.Dir(src.main))
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		names = slices.DeleteFunc(kineto.Names(names), func(name string) bool {
			head, err := readHead(src.fsys, src.beside(name))
			return err != nil || !kineto.Sniff(head)
		})
	}
	return traceOf("PyTorch profiler", func() (*kineto.Profile, error) {
		return kineto.Read(src.fsys, path.Dir(src.main), names, src.showBeside, o.Interrupt)
	})
}

// traceOf makes a trace of a profile. Its events are those of its timeline. The profile is not kept: a part of the ranks is read again.
func traceOf(tool string, read func() (*kineto.Profile, error)) (*Trace, error) {
	p, err := read()
	if err != nil {
		return nil, err
	}
	t := &Trace{Warnings: p.Warnings}
	t.Ranks = p.Ranks
	convert := func(p *kineto.Profile, c *conversion) (*timeline.Timeline, error) {
		tl, warnings, err := p.Timeline(c.threads, c.wanted)
		c.warnings = append(c.warnings, warnings...)
		if tl == nil && err == nil {
			err = c.nothingRead()
		}
		return tl, err
	}
	c, err := newConversion(t, TimelineOptions{})
	if err != nil {
		return nil, err
	}
	whole, err := convert(p, c)
	if err != nil {
		return nil, err
	}
	events := FromTimeline(whole.StreamsAsThreads())
	t.Definitions, t.Open = events.Definitions, events.Open
	t.Tool = tool
	t.timeline = func(c *conversion) (*timeline.Timeline, error) {
		if c.selected != nil {
			p, err := read()
			if err != nil {
				return nil, err
			}
			return convert(p, c)
		}
		copied := *whole
		return &copied, nil
	}
	t.Notes = c.warnings
	return t, nil
}
