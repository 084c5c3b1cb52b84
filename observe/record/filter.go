package record

import (
	"debug/elf"
	"fmt"
	"io"
	"path"
	"strings"

	"slackline/internal/atomicfile"
	"slackline/observe/mpi"
)

// writeFilter writes the list of functions that the recorder leaves out: their number, and their addresses in the
// program's file.
func writeFilter(file string, programs []mpi.Program, patterns []string) error {
	for _, p := range patterns {
		if _, err := path.Match(strings.TrimPrefix(p, "!"), ""); err != nil {
			return fmt.Errorf("--filter %s: not a pattern", p)
		}
	}
	var out []uint64
	for i := range programs {
		if programs[i].Path == "" {
			continue
		}
		list, err := leftOut(programs[i].Path, patterns)
		if err != nil {
			return err
		}
		out = append(out, list...)
	}
	return atomicfile.Write(file, func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, len(out)); err != nil {
			return err
		}
		for _, a := range out {
			if _, err := fmt.Fprintf(w, "%x\n", a); err != nil {
				return err
			}
		}
		return nil
	})
}

// leftOut returns the addresses of the functions that the patterns leave out.
func leftOut(program string, patterns []string) ([]uint64, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("--filter: %s: %w", program, err)
	}
	defer f.Close()
	symbols, _ := f.Symbols() // a stripped program has none
	m := &module{}
	var list []uint64
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 && !kept(m.plainName(s.Name), patterns) {
			list = append(list, s.Value)
		}
	}
	return list, nil
}

// kept decides about a function: the last pattern that fits does; without one, functions are kept unless there are
// patterns of what to keep.
func kept(name string, patterns []string) bool {
	keep := true
	for _, p := range patterns {
		keep = keep && strings.HasPrefix(p, "!")
	}
	for _, p := range patterns {
		plain, out := strings.CutPrefix(p, "!")
		if ok, _ := path.Match(plain, name); ok {
			keep = !out
		}
	}
	return keep
}
