package dataset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Caliper's JSON in its form json-split, as Hatchet reads it:
//
//	{"data":[[0.5,0],[0.25,1]],"columns":["time","path"],"column_metadata":[{"is_value":true},{"is_value":false}],
//	 "nodes":[{"label":"main","column":"path"},{"label":"solve","column":"path","parent":0}],"mpi.world.size":"8"}
//
// Values of a call path on several ranks are repetitions. The parameter p is the size of MPI_COMM_WORLD.

var caliperFormat = Format{Name: "caliper", Info: "Caliper JSON (json-split)", PlaceInName: true, Sniff: sniffCaliper,
	Read: decoded(readCaliper)}

func sniffCaliper(head []byte) bool {
	return isObject(head) && (hasKey(head, "column_metadata") || hasKey(head, "data") && hasKey(head, "columns") && hasKey(head, "nodes"))
}

type caliperFile struct {
	Data     [][]json.RawMessage `json:"data"`
	Columns  []string            `json:"columns"`
	Metadata []struct {
		IsValue bool   `json:"is_value"`
		Unit    string `json:"attribute.unit"`
	} `json:"column_metadata"`
	Nodes []struct {
		Label  string `json:"label"`
		Column string `json:"column"`
		Parent *int   `json:"parent"`
	} `json:"nodes"`
	Size json.RawMessage `json:"mpi.world.size"`
}

// caliperUnits are those units whose names differ from ours.
var caliperUnits = map[string]string{"sec": "s", "usec": "us", "byte": "B"}

// caliperLocation are columns that say where something was measured, not what.
func caliperLocation(column string) bool {
	return column == "rank" || strings.HasPrefix(column, "mpi.rank") || strings.Contains(column, "thread")
}

func readCaliper(name string, file *caliperFile) (*Dataset, error) {
	if len(file.Columns) == 0 || len(file.Metadata) != len(file.Columns) {
		return nil, fmt.Errorf("%s: has %d \"columns\" and %d \"column_metadata\"; write it with 'cali-query -q \"format json-split\"'",
			name, len(file.Columns), len(file.Metadata))
	}
	paths, err := file.paths()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := New()
	var odd leftOut
	var names []string
	var at []float64
	if size := strings.Trim(string(file.Size), `"`); size != "" && size != "null" {
		p, err := caliperRanks(size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		names, at = []string{"p"}, []float64{p}
	}
	for i, row := range file.Data {
		if len(row) != len(file.Columns) {
			return nil, fmt.Errorf("%s: row %d of \"data\" has %d values for %d columns", name, i+1, len(row), len(file.Columns))
		}
		path := ""
		for k, column := range file.Columns {
			var node int
			if file.Metadata[k].IsValue || column != "path" && !strings.HasPrefix(column, "source.function") || string(row[k]) == "null" {
				continue
			}
			if json.Unmarshal(row[k], &node) != nil || node < 0 || node >= len(paths) {
				return nil, fmt.Errorf("%s: row %d of \"data\" names node %s, but there are %d", name, i+1, row[k], len(paths))
			}
			path = paths[node]
		}
		path = cmp.Or(path, RootPath)
		for k, column := range file.Columns {
			var v float64
			if !file.Metadata[k].IsValue || caliperLocation(column) || string(row[k]) == "null" {
				continue
			}
			if json.Unmarshal(row[k], &v) != nil {
				odd.add(fmt.Sprintf("%s in row %d", column, i+1))
				continue
			}
			d.Put(path, column, names, at, v)
			unit := file.Metadata[k].Unit
			if u, ok := caliperUnits[unit]; ok {
				unit = u
			}
			d.Get(path, column).Unit = unit
		}
	}
	odd.warn(d, "%s: values that are not numbers are left out", name)
	return d, nil
}

// paths are the call paths of the nodes; a parent comes before its children.
func (f *caliperFile) paths() ([]string, error) {
	paths := make([]string, len(f.Nodes))
	for i, n := range f.Nodes {
		if paths[i] = n.Label; n.Parent == nil {
			continue
		}
		if *n.Parent < 0 || *n.Parent >= i {
			return nil, fmt.Errorf("node %d has the parent %d, which must come before it", i, *n.Parent)
		}
		if paths[i] = paths[*n.Parent] + "->" + n.Label; len(paths[i]) > maxNameBytes {
			return nil, fmt.Errorf("the call path of node %d has more than %d bytes", i, maxNameBytes)
		}
	}
	return paths, nil
}

// caliperRanks reads the number of ranks, as both kinds of files have it.
func caliperRanks(text string) (float64, error) {
	x, err := parseFinite(text)
	if err != nil || x <= 0 {
		return 0, fmt.Errorf("mpi.world.size is %q; it is a number above 0", text)
	}
	return x, nil
}
