package dataset

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Profiles of TAU, one file profile.NODE.CONTEXT.THREAD for each thread:
//
//	2 templated_functions_MULTI_TIME
//	# Name Calls Subrs Excl Incl ProfileCalls
//	"main" 1 1 100 5000 0 GROUP="TAU_USER"
//	"main => MPI_Send()" 8 0 4900 4900 0 GROUP="MPI"
//	0 aggregates
//
// Times are in microseconds; other metrics are named in the first line. Files of several threads are repetitions. The number of
// processes is not in the file.

var tauFormat = Format{Name: "tau", Info: "TAU profile", PlaceInName: true, Sniff: sniffTAU, Read: readTAU}

func sniffTAU(head []byte) bool { return tauTitle.Match(head) }

var (
	tauTitle = regexp.MustCompile(`^\s*(\d+) templated_functions(?:_MULTI_(\S+))?`)
	tauRow   = regexp.MustCompile(`^"(.*)" (\S+) (\S+) (\S+) (\S+) (\S+)(?: GROUP=.*)?$`)
)

var tauName = regexp.MustCompile(`^profile\.(\d+)\.\d+\.\d+$`)

// warnTAU warns of nodes from 0 to the last one of a directory that have no profile.
func (d *Dataset) warnTAU(dir fs.FS, root, p string) error {
	entries, err := fs.ReadDir(dir, p)
	if err != nil {
		return err
	}
	nodes, last := map[int]bool{}, -1
	for _, e := range entries {
		if m := tauName.FindStringSubmatch(e.Name()); m != nil && !e.IsDir() {
			if n, err := strconv.Atoi(m[1]); err == nil {
				nodes[n], last = true, max(last, n)
			}
		}
	}
	if missing := last + 1 - len(nodes); missing > 0 {
		first := 0
		for nodes[first] {
			first++
		}
		d.warnf("%s: of %d nodes %d have no profile, such as profile.%d.0.0: their times are missing", path.Join(root, p), last+1, missing, first)
	}
	return nil
}

func readTAU(name string, data []byte) (*Dataset, error) {
	title := tauTitle.FindSubmatch(data)
	if title == nil {
		return nil, fmt.Errorf("%s:1: does not start with a line such as \"12 templated_functions_MULTI_TIME\"", name)
	}
	metric, unit, factor := "time", "s", 1e-6
	if m := string(title[2]); m != "" && !strings.HasSuffix(m, "TIME") {
		metric, unit, factor = m, "", 1
	}
	count, err := parseFinite(string(title[1]))
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	d := New()
	number, rows := 0, 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if number == 1 || text == "" || text[0] == '#' {
			continue
		}
		if float64(rows) >= count && !tauRow.MatchString(text) {
			break // aggregates and user events follow
		}
		m := tauRow.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: is not a row \"NAME\" CALLS SUBRS EXCL INCL PROFILECALLS; the first line announces %g of them",
				name, number, count)
		}
		rows++
		path := strings.Join(strings.Fields(strings.ReplaceAll(m[1], "=>", "->")), " ")
		path = strings.ReplaceAll(path, " -> ", "->")
		for i, column := range []string{2: "visits", 4: metric, 5: "inclusive_" + metric} {
			if column == "" {
				continue
			}
			v, err := parseFinite(m[i])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, number, err)
			}
			if i > 2 {
				v *= factor
			}
			d.Put(path, column, nil, nil, v)
			if i > 2 {
				d.Get(path, column).Unit = unit
			}
		}
	}
	if float64(rows) > count {
		return nil, fmt.Errorf("%s:%d: has more than the %g functions that the first line announces; the file is damaged", name, number, count)
	}
	if float64(rows) < count {
		return nil, fmt.Errorf("%s:%d: ends after %d of %g functions; the file is not complete", name, number, rows, count)
	}
	return d, nil
}
