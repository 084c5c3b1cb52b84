package machine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/unit"
)

const ns = unit.Nanosecond

// params builds parameters in whole nanoseconds.
func params(l, o, g, perByte, cpu, eager int64) Params {
	return Params{
		Latency: unit.Duration(l) * ns, Gap: unit.Duration(g) * ns,
		Overhead: One(unit.Duration(o) * ns), PerByte: One(unit.PerByte(perByte) * 1e6),
		CPUByte: unit.PerByte(cpu) * 1e6, Eager: eager,
	}
}

func with(p Params, change func(*Params)) Params {
	change(&p)
	return p
}

// The values are worked out by hand from the files.
func TestReadFiles(t *testing.T) {
	base := params(1200, 700, 900, 2, 0, 65536)
	mega := with(base, func(p *Params) { p.Eager = 1 << 20 })
	inside := params(300, 200, 100, 1, 0, 65536)
	o := func(list ...int64) (p Pieces[unit.Duration]) {
		for i := 0; i < len(list); i += 2 {
			p = append(p, Piece[unit.Duration]{list[i], unit.Duration(list[i+1]) * ns})
		}
		return p
	}
	g := func(list ...int64) (p Pieces[unit.PerByte]) {
		for i := 0; i < len(list); i += 2 {
			p = append(p, Piece[unit.PerByte]{list[i], unit.PerByte(list[i+1]) * 1e5})
		}
		return p
	}
	three := func(node, sw, far Params) [NumClasses]Params { return [NumClasses]Params{node, sw, far} }
	for _, tc := range []struct {
		file string
		want Machine
	}{
		{"classes-halo", Machine{RanksPerNode: 4, NodesPerSwitch: 2, Classes: three(
			inside, params(900, 700, 900, 2, 0, 65536), params(1600, 800, 900, 3, 0, 65536))}},
		{"classes-inherit", Machine{RanksPerNode: 2, NodesPerSwitch: 3, Classes: three(
			params(1200, 150, 900, 1, 0, 65536), params(400, 700, 900, 2, 0, 65536), base)}},
		{"classes-no-switch", Machine{RanksPerNode: 2, Classes: three(
			params(100, 700, 900, 2, 0, 65536), params(9000, 700, 900, 2, 0, 65536), params(2000, 700, 900, 2, 0, 65536))}},
		{"classes-pingpong", Machine{RanksPerNode: 2, NodesPerSwitch: 2, Classes: three(
			params(300, 200, 100, 1, 0, 8192), params(900, 500, 600, 2, 0, 32768), params(1600, 800, 1000, 3, 1, 1<<20))}},
		{"nic-inside-node", Machine{RanksPerNode: 3, SharedNIC: true, Classes: three(inside, base, base)}},
		{"nic-two-senders", Machine{RanksPerNode: 2, SharedNIC: true, Classes: three(base, base, base)}},
		{"piecewise-G", Machine{RanksPerNode: 1, Classes: func() [NumClasses]Params {
			p := with(mega, func(p *Params) { p.PerByte = g(0, 30, 4096, 20, 65536, 5) })
			return three(p, p, p)
		}()}},
		{"piecewise-o", Machine{RanksPerNode: 1, Classes: func() [NumClasses]Params {
			p := with(mega, func(p *Params) { p.Overhead = o(0, 700, 8192, 1100) })
			return three(p, p, p)
		}()}},
		{"piecewise-classes", Machine{RanksPerNode: 2, NodesPerSwitch: 2, Classes: three(
			params(100, 100, 900, 2, 0, 65536),
			with(base, func(p *Params) { p.Overhead, p.PerByte = o(0, 600, 701, 900), g(0, 20, 702, 10) }),
			with(params(2000, 0, 900, 0, 0, 65536), func(p *Params) {
				p.Overhead, p.PerByte = o(0, 1000, 703, 1300), g(0, 30, 512, 20)
			}))}},
		{"placement-cyclic", Machine{RanksPerNode: 4, NodesPerSwitch: 2, Placement: Placement{Cyclic: true}, Classes: three(
			inside, params(900, 700, 900, 2, 0, 65536), params(1600, 800, 900, 3, 0, 65536))}},
		{"placement-list", Machine{RanksPerNode: 1, NodesPerSwitch: 2, Placement: Placement{Nodes: []int32{5, 5, 0, 1, 4, 0, 3, 9}},
			Classes: three(inside, params(900, 700, 900, 2, 0, 65536), params(1600, 800, 900, 3, 0, 65536))}},
		{"rdv-classes-late", Machine{RanksPerNode: 2, NodesPerSwitch: 2, Classes: three(
			params(300, 200, 900, 2, 0, 8192), params(1200, 700, 900, 2, 0, 4096), params(2000, 700, 900, 2, 0, 2048))}},
		{"ties-no-delay", Machine{RanksPerNode: 4, SharedNIC: true, Classes: three(params(0, 0, 0, 0, 0, 55), base, base)}},
		{"together-00", Machine{RanksPerNode: 4, NodesPerSwitch: 2, SharedNIC: true, Classes: three(
			params(300, 200, 100, 1, 0, 1024),
			with(params(900, 700, 900, 0, 0, 65536), func(p *Params) { p.PerByte = g(0, 20, 512, 10) }),
			with(params(1600, 0, 900, 0, 0, 2048), func(p *Params) {
				p.Overhead, p.PerByte = o(0, 700, 512, 1100), g(0, 30, 1024, 20)
			}))}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			got, err := Load(filepath.Join("testdata", tc.file+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Note == "" {
				t.Error("the note is lost")
			}
			tc.want.Name, tc.want.Note = tc.file, got.Note
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestReadForms(t *testing.T) {
	const text = `
"L": 0
o: '1.5us'
g: 0
G: 0
S: 65536      # bytes
gamma: 0.1ns
nic: "rank"
note: |
  two
  lines
noise: altix
placement: block
topology: {kind: torus, dims: 4x4x2, p: 2, wire: 274ns}
classes:
  node: {}
`
	for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + text} {
		m, err := Read("dir/plain.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p := Params{Overhead: One(1500 * ns), PerByte: One[unit.PerByte](0), Eager: 65536}
		want := FromParams("plain", p)
		want.Gamma, want.Noise = 100_000, "altix"
		want.Note = "two\nlines\n"
		want.Topology = map[string]string{"kind": "torus", "dims": "4x4x2", "p": "2", "wire": "274ns"}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	}
	m, err := Read("m", []byte("{L: 1ns, o: 1ns, g: 1ns, G: 1ns}"))
	if err != nil || m.Classes[Far].Eager != NoLimit || m.Classes[Far].CPUByte != 0 {
		t.Errorf("without O and S: %+v, %v", m, err)
	}
}

// A machine may give all of a class in the class; class switch matters only with switches.
func TestReadClassesOnly(t *testing.T) {
	const full = "{L: 1ns, o: 2ns, g: 3ns, G: 4ns}"
	m, err := Read("m", []byte("classes:\n  node: "+full+"\n  far: "+full+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := params(1, 2, 3, 4, 0, NoLimit); !m.Classes[Switch].Equal(&want) {
		t.Errorf("class switch = %+v, want the sound values of class far", m.Classes[Switch])
	}
	_, err = Read("m", []byte("nodes_per_switch: 2\nclasses:\n  node: "+full+"\n  far: "+full+"\n  switch: {L: 0, o: 0, g: 0}\n"))
	want := "m:2:1: G is missing for class switch; give it there, or at the top level for all classes"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = Read("m", []byte("classes:\n  far: "+full+"\n"))
	if list := (FileErrors)(nil); !errors.As(err, &list) || len(list) != 4 ||
		list[0].Error() != "m:1:1: L is missing for class node; give it there, or at the top level for all classes" {
		t.Errorf("error %v, want 4 missing for class node", err)
	}
}

func TestPlacementFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const plain = "L: 1ns\no: 1ns\ng: 1ns\nG: 1ns\nplacement: "
	file := write("m.yaml", plain+"nodes.txt\n")
	write("nodes.txt", "# by rank\n3\n\n 0 \r\n3\n")
	m, err := Load(file)
	if err != nil || !slices.Equal(m.Placement.Nodes, []int32{3, 0, 3}) {
		t.Fatalf("placement = %v, %v", m, err)
	}
	nodes := write("nodes.txt", "0\n-1\n2x\n")
	_, err = Load(file)
	want := nodes + ":2: placement of rank 1: node \"-1\"; give a whole number from 0 to 2147483646\n" +
		nodes + ":3: placement of rank 2: node \"2x\"; give a whole number from 0 to 2147483646"
	if err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
	write("nodes.txt", "# nothing\n")
	if _, err = Load(file); err == nil || !strings.Contains(err.Error(), "lists no rank") {
		t.Errorf("error %v, want one about an empty list", err)
	}
	if _, err = Load(write("m.yaml", plain+"cylic\n")); err == nil || !strings.HasSuffix(err.Error(), "did you mean cyclic?") {
		t.Errorf("error %v, want a suggestion", err)
	}
	if _, err = Load(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("Load(directory): %v", err)
	}
}

// A long list does not go through the YAML parser, and lines behind it keep their numbers.
func TestLongPlacement(t *testing.T) {
	const ranks = 200_000
	list := strings.Repeat("7, 123456,\n", ranks/2)
	plain := "L: 1ns\no: 1ns\ng: 1ns\nG: 1ns\nplacement: [" + list + "]\n"
	m, err := Read("m", []byte(plain+"nic: node\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Placement.Nodes) != ranks || m.Placement.Nodes[0] != 7 || m.Placement.Nodes[ranks-1] != 123456 || !m.SharedNIC {
		t.Errorf("%d ranks, shared NIC %t", len(m.Placement.Nodes), m.SharedNIC)
	}
	_, err = Read("m", []byte(plain+"nick: node\n"))
	if want := `m:100006:1: unknown key "nick" in the machine file; did you mean nic?`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	// The same with one number per line, as other programs write lists.
	dashes := "L: 1ns\no: 1ns\ng: 1ns\nplacement:\n" + strings.Repeat("- 7\n- 123456\n", ranks/2) + "G: 1ns\n"
	if m, err = Read("m", []byte(dashes)); err != nil || len(m.Placement.Nodes) != ranks || m.Placement.Nodes[ranks-1] != 123456 {
		t.Errorf("list with dashes: %v", err)
	}
	for _, text := range []string{
		strings.ReplaceAll(dashes, "- 7\n", "- 7  # first\n"),
		strings.ReplaceAll(plain, ",\n", ", # pair\n"),
	} {
		if m, err = Read("m", []byte(text)); err != nil || len(m.Placement.Nodes) != ranks || m.Placement.Nodes[ranks-2] != 7 {
			t.Errorf("list with comments: %v", err)
		}
	}
	_, err = Read("m", []byte(dashes+"nick: node\n"))
	if want := `m:200006:1: unknown key "nick" in the machine file; did you mean nic?`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = Read("m", []byte(strings.Replace(dashes, "- 123456\n- 7\n", "- 123456\n  - x\n", 1)))
	if want := `m:7: placement of rank 2: node "x"; give a whole number from 0 to 2147483646`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = Read("m", []byte(strings.Replace(plain, "7, 123456,\n7,", "7, 123456,\n-7,", 1)))
	if want := `m:6: placement of rank 2: node "-7"; give a whole number from 0 to 2147483646`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
