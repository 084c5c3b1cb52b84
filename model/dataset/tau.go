package dataset

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
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
// processes is not in the file; messages to other nodes, which user events count, name some.

var tauFormat = Format{Name: "tau", Info: "TAU profile", Lines: true, PlaceInName: true, Sniff: sniffTAU, Read: readTAU}

func sniffTAU(head []byte) bool { return tauTitle.Match(head) }

var (
	tauTitle = regexp.MustCompile(`^\s*(\d+) templated_functions(?:_MULTI_(\S+))?`)
	tauRow   = regexp.MustCompile(`^"(.*)" (\S+) (\S+) (\S+) (\S+) (\S+)( GROUP=.*)?$`)
)

// tauPeer is in names of user events: messages to and from other nodes.
var (
	tauName = regexp.MustCompile(`^profile\.(\d+)\.\d+\.\d+$`)
	tauPeer = regexp.MustCompile(`Message size (?:sent to|received from) node (\d+)`)
)

// tauNodes are the nodes of a directory: those with a profile, and how many there must be.
type tauNodes struct {
	there map[int]bool
	count int
	files int // one for each thread
}

// noteTAU notes the node of a profile, and those that it exchanged messages with.
func (d *directory) noteTAU(p string, data []byte) {
	m := tauName.FindStringSubmatch(path.Base(p))
	if m == nil {
		return
	}
	n := d.tau[path.Dir(p)]
	if n == nil {
		n = &tauNodes{there: map[int]bool{}}
		d.tau[path.Dir(p)] = n
	}
	n.files++
	for i, text := range append([]string{m[1]}, tauPeers(data)...) {
		if node, err := strconv.Atoi(text); err == nil && node < maxFiles {
			n.count = max(n.count, node+1)
			n.there[node] = n.there[node] || i == 0
		}
	}
}

func tauPeers(data []byte) (nodes []string) {
	for _, m := range tauPeer.FindAllSubmatch(data, -1) {
		nodes = append(nodes, string(m[1]))
	}
	return nodes
}

// warnTAU warns of nodes from 0 to the last known one of a directory that have no profile.
func (d *directory) warnTAU(root string) {
	for _, p := range slices.Sorted(maps.Keys(d.tau)) {
		if names, at := PlaceOf(path.Base(p)); slices.Contains(names, "p") {
			if ranks := at[slices.Index(names, "p")]; float64(d.tau[p].files) < ranks && ranks < maxFiles { // p may count threads
				d.tau[p].count = max(d.tau[p].count, int(ranks))
			}
		}
		missing, first := 0, 0
		for node := range d.tau[p].count {
			if !d.tau[p].there[node] {
				if missing++; missing == 1 {
					first = node
				}
			}
		}
		if missing > 0 {
			d.warnf("%s: of %d nodes %d have no profile, such as profile.%d.0.0: their times are missing", path.Join(root, p), d.tau[p].count,
				missing, first)
		}
	}
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
	var odd leftOut
	number, rows, grouped := 0, 0, 0
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
		if rows++; m[7] != "" {
			grouped++
		}
		if grouped != 0 && grouped != rows {
			return nil, fmt.Errorf("%s:%d: some rows of functions have a GROUP and others not; one may be that of a user event", name, number)
		}
		if strings.ContainsFunc(m[1], unicode.IsControl) {
			return nil, fmt.Errorf("%s:%d: has a control character in the name %q; the file is damaged", name, number, m[1])
		}
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
			if v < 0 {
				return nil, fmt.Errorf("%s:%d: the %s of %q is %s, below 0: the file is damaged, or TAU took off more overhead than there was: "+
					"measure without TAU_COMPENSATE", name, number, column, m[1], m[i])
			}
			if i > 2 {
				v *= factor
			}
			d.Put(path, column, nil, nil, v)
			if i > 2 {
				d.Get(path, column).Unit = unit
			}
		}
		if subrs, _ := parseFinite(m[3]); !tauFits(subrs, m[4], m[5]) {
			odd.add(fmt.Sprintf("%q in line %d", m[1], number))
		}
	}
	if float64(rows) > count {
		return nil, fmt.Errorf("%s:%d: has more than the %g functions that the first line announces; the file is damaged", name, number, count)
	}
	if float64(rows) < count {
		return nil, fmt.Errorf("%s:%d: ends after %d of %g functions; the file is not complete", name, number, rows, count)
	}
	odd.warn(d, "%s: functions whose inclusive value is below the exclusive one, or another one although they called nothing (is it damaged?)",
		name)
	return d, nil
}

// tauFits reports whether the exclusive and the inclusive value of a function fit, with what TAU rounds: without calls of others both are
// the same.
func tauFits(subrs float64, exclusive, inclusive string) bool {
	excl, _ := parseFinite(exclusive)
	incl, _ := parseFinite(inclusive)
	slack := 1 + 1e-4*incl
	return excl <= incl+slack && (subrs != 0 || incl <= excl+slack)
}
