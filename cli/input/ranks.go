package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"slackline/internal/cluster"
	"slackline/internal/provenance"
	"slackline/model/schedule"
)

// rankFiles returns the files of a schedule in which each rank has one, and their format. Word is one of them, or a directory with the
// files of one schedule. There are none if word is something else.
func rankFiles(word string) (schedule.Format, []string, error) {
	info, err := os.Stat(word)
	if err != nil || word == Stdin || !info.IsDir() && !info.Mode().IsRegular() {
		return schedule.Format{}, nil, nil // what it is then is said elsewhere
	}
	dir, base := filepath.Dir(word), filepath.Base(word)
	if info.IsDir() {
		dir, base = word, ""
	}
	for _, f := range schedule.Formats() {
		if f.RankFiles == nil {
			continue
		}
		if base != "" && !begins(word, f) {
			continue // the directory may be large
		}
		names, err := filesWith(dir, f.Suffixes)
		if err != nil {
			return f, nil, err
		}
		candidates := names
		if base != "" {
			candidates = []string{base}
		}
		for _, name := range candidates {
			if base == "" && !begins(filepath.Join(dir, name), f) {
				continue
			}
			files, err := f.RankFiles(name, names)
			if err != nil {
				return f, nil, fmt.Errorf("%s: %w", dir, err)
			}
			if other := slices.IndexFunc(names, func(n string) bool { return !slices.Contains(files, n) }); base == "" && other >= 0 {
				return f, nil, fmt.Errorf("%s has the files of several schedules, such as %s and %s; give one of these files",
					dir, files[0], names[other])
			}
			for i := range files {
				files[i] = filepath.Join(dir, files[i])
			}
			return f, files, nil
		}
	}
	return schedule.Format{}, nil, nil
}

// begins reports whether a file begins like one of a format.
func begins(path string, f schedule.Format) bool {
	head, err := Head(path)
	return err == nil && f.Sniff(head)
}

// hasRankFiles reports whether word is a schedule in which each rank has a file, or is meant to be one.
func hasRankFiles(word string) bool {
	_, files, err := rankFiles(word)
	return err != nil || len(files) > 0
}

// filesWith are the names of regular files in a directory that have one of the suffixes, packed or not.
func filesWith(dir string, suffixes []string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains(suffixes, filepath.Ext(strings.TrimSuffix(e.Name(), ".gz"))) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// openRanks reads the files of a schedule in which each rank has one.
func openRanks(ctx context.Context, word string, f schedule.Format, files []string, o Options, notes []string) (*Input, error) {
	in := &Input{Name: word, Format: f.Name, Notes: notes, Record: provenance.Input{Path: word, Kind: f.Name}}
	graph, warnings, err := f.ReadRanks(files, func(name string) (io.ReadCloser, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return os.Open(name)
	}, memoryLimit())
	if err != nil {
		return nil, err
	}
	in.Program, in.Graph, in.Warnings = graph, graph, warnings
	if o.ToRun != nil {
		in.Program, in.Graph = schedule.Pack(graph), nil
	}
	if o.Hash {
		in.Record, err = recordAll(ctx, cluster.Alone(), in.Record, filepath.Dir(files[0]), files)
	}
	return in, err
}
