package machine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const plainMachine = "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"

// Every mistake is reported with its place and the fix, and all mistakes of a file are reported.
func TestReadErrors(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"unknown keys", plainMachine + "latancy: 3us\nranks_pernode: 4\nx: 1\n", []string{
			`m.yaml:5:1: unknown key "latancy" in the machine file; did you mean L (latency)?`,
			`m.yaml:6:1: unknown key "ranks_pernode" in the machine file; did you mean ranks_per_node?`,
			`m.yaml:7:1: unknown key "x" in the machine file; the keys are name, note, L, o, g, G, O, S, gamma, ranks_per_node, nodes_per_switch, nic, classes, placement, noise, topology, nccl`,
		}},
		{"key twice", plainMachine + "L: 2us\n", []string{
			`m.yaml:5:1: key "L" is given twice in the machine file, first in line 1; keep one of them`,
		}},
		{"missing", "name: x\no: 1us\n", []string{
			`m.yaml:1:1: L is missing; give it, e.g. "L: 1.2us"`,
			`m.yaml:1:1: g is missing; give it, e.g. "g: 0.9us"`,
			`m.yaml:1:1: G is missing; give it, e.g. "G: 0.05ns"`,
		}},
		{"values", "L: 3\no: -1us\ng: [1us]\nG: {0: 1}\nO:\nS: 1.5\ngamma: {a: b}\n", []string{
			`m.yaml:1:4: L: duration "3" needs a unit; use ps, ns, us, ms, s, min or h, e.g. 2.5us`,
			`m.yaml:2:4: o: duration "-1us" is negative; give 0 or more`,
			`m.yaml:3:4: g is a list; give one value`,
			`m.yaml:4:8: G from 0: cost per byte "1" needs a unit; use fs, ps, ns, us, ms or s, e.g. 0.05ns`,
			`m.yaml:5:3: O has no value; give one or leave the key out`,
			`m.yaml:6:4: S: size "1.5" is not a whole number of bytes; write it in B`,
			`m.yaml:7:8: gamma is a mapping; give one value`,
		}},
		{"precision", "L: 1.0005ns\no: 1ns\ng: 1ns\nG: 0.0000001ns\n", []string{
			`m.yaml:1:4: L: duration "1.0005ns" is finer than 1ps; round it to whole picoseconds`,
			`m.yaml:4:4: G: cost per byte "0.0000001ns" is finer than 0.000001ns; give at most 6 decimals of a nanosecond`,
		}},
		{"pieces", "L: {0: 1ns}\no: {1KiB: 1us, 2KiB: 2us}\ng: 1us\nG: {0B: 1ns, 1024: 1ns, 1KiB: 2ns, x: 3ns}\n", []string{
			`m.yaml:1:4: L is a mapping; give one value`,
			`m.yaml:2:4: o has no piece for the smallest messages; let one begin at 0B`,
			`m.yaml:4:25: G: two pieces begin at 1KiB; keep one of them`,
			`m.yaml:4:36: G: piece from size "x" does not begin with a number such as 12 or 0.5; write e.g. 64KiB`,
		}},
		{"no pieces", "L: 1ns\no: {}\ng: 1ns\nG: 1ns\n", []string{
			`m.yaml:2:4: o has no piece for the smallest messages; let one begin at 0B`,
		}},
		{"classes", plainMachine + "classes:\n  nodes: {L: 1us}\n  far: {o: x, gama: 3}\n  node: 5us\n", []string{
			`m.yaml:6:3: unknown key "nodes" in classes; did you mean node?`,
			`m.yaml:7:12: o: duration "x" does not begin with a number such as 12 or 0.5; write e.g. 2.5us`,
			`m.yaml:7:15: unknown key "gama" in class far; did you mean g (gap)?`,
			`m.yaml:8:9: class node must be keys with values, as in "{L: 0.3us, G: 0.02ns}"`,
		}},
		{"class twice", plainMachine + "classes:\n  node: {L: 1us}\n  node: {L: 2us}\n", []string{
			`m.yaml:7:3: key "node" is given twice in classes, first in line 6; keep one of them`,
		}},
		{"counts", plainMachine + "ranks_per_node: 0\nnodes_per_switch: 2.5\n", []string{
			`m.yaml:5:17: ranks_per_node is "0"; give a whole number from 1 to 2147483647`,
			`m.yaml:6:19: nodes_per_switch is "2.5"; give a whole number from 1 to 2147483647`,
		}},
		{"nic", plainMachine + "nic: nod\n", []string{
			`m.yaml:5:6: nic is "nod"; write rank (one NIC per rank) or node (one for all ranks of a node); did you mean node?`,
		}},
		{"placement", plainMachine + "placement: [0, -1, x, [1]]\n", []string{
			`m.yaml:5:16: placement of rank 1: node "-1"; give a whole number from 0 to 2147483646`,
			`m.yaml:5:20: placement of rank 2: node "x"; give a whole number from 0 to 2147483646`,
			`m.yaml:5:23: a node of the placement is a list; give one value`,
		}},
		{"placement empty", plainMachine + "placement: []\n", []string{
			`m.yaml:5:12: the placement lists no rank; give the node of each rank, or write block or cyclic`,
		}},
		{"placement number", plainMachine + "placement: 4\n", []string{
			`m.yaml:5:12: placement is "4"; write block, cyclic, a list such as [0, 0, 1, 1], or the name of a file`,
		}},
		{"topology kind", plainMachine + "topology: {kind: fatree, k: 4}\n", []string{
			`m.yaml:5:11: topology has kind "fatree"; write kind: fattree, dragonfly, slimfly, torus or matrix; did you mean fattree?`,
		}},
		{"topology keys", plainMachine + "topology: {kind: dragonfly, g: 0, k: 4, wier: 1ns, wire: 3, p: 2}\n", []string{
			`m.yaml:5:11: a topology of kind dragonfly needs the key a`,
			`m.yaml:5:32: topology g is "0"; give a whole number of at least 1`,
			`m.yaml:5:35: a topology of kind dragonfly has no key k; its keys are kind, wire, switch, g, a, p, h`,
			`m.yaml:5:41: unknown key "wier" in topology; did you mean wire?`,
			`m.yaml:5:58: topology wire: duration "3" needs a unit; use ps, ns, us, ms, s, min or h, e.g. 2.5us`,
		}},
		{"topology list", plainMachine + "topology: [4]\n", []string{`m.yaml:5:11: topology must be keys with values, as in "{kind: fattree, k: 16}"`}},
		{"topology empty", plainMachine + "topology: {}\n", []string{`m.yaml:5:11: topology has kind ""; write kind: fattree, dragonfly, slimfly, torus or matrix`}},
		{"topology dims", plainMachine + "topology: {kind: torus, dims: 4x0}\n", []string{
			`m.yaml:5:31: topology dims: the extents are "4x0"; write that of each dimension, e.g. 4x4x2`,
		}},
		{"block style", "L: 1us\no:\n  1KiB: 1us\ng: 1us\nG: 1ns\nS:\n  a: b\ntopology:\n  kind: torus\n", []string{
			`m.yaml:3:3: o has no piece for the smallest messages; let one begin at 0B`,
			`m.yaml:7:3: S is a mapping; give one value`,
			`m.yaml:9:3: a topology of kind torus needs the key dims`,
		}},
		{"noise", plainMachine + "noise: [a]\n", []string{`m.yaml:5:8: noise is a list; give one value`}},
		{"empty", "", []string{`m.yaml: is empty; give at least L, o, g and G`}},
		{"no mapping", "- 1\n", []string{`m.yaml:1:1: a machine file must be keys with values, as in "L: 1.2us"`}},
		{"two documents", plainMachine + "---\nL: 2us\n", []string{`a second YAML document begins; give each machine a file of its own`}},
		{"alias", "L: &a 1us\no: *a\n", []string{`m.yaml:1:4: anchors and aliases are not read in machine files; write the value itself`}},
		{"tag", "L: !!str 1us\n", []string{`m.yaml:1:4: YAML tags and directives are not read in machine files; leave them out`}},
		{"deep", strings.Repeat("[", 30000), []string{`m.yaml:1:9: lists are nested more than 8 deep; a machine file has lists of plain values only`}},
		{"deep dashes", strings.Repeat("- ", 16000), []string{`m.yaml:1:17: lists are nested more than 8 deep; a machine file has lists of plain values only`}},
		{"many keys", strings.Repeat("a: 1\n", 4_000), []string{`m.yaml:2001:2: has more than 2000 keys; a machine needs far fewer`}},
		{"many pieces", plainMachine + "classes:\n  node: {o: {" + manyPieces(201) + "}}\n", []string{`o has more than 200 pieces; give fewer`}},
		{"unclosed", "L: [1\n", []string{`m.yaml:1:4: sequence end token ']' not found`}},
		{"zero byte", "L: \x00", []string{`m.yaml: holds a zero byte; a machine file is YAML text`}},
		{"not UTF-8", "L: \xff", []string{`m.yaml:1:4: is not UTF-8 text; save it as UTF-8`}},
		{"many lines", "note: |\n" + strings.Repeat("\r", 5000), []string{`m.yaml: has 5001 lines, more than the limit of 4000; put a long placement into a file of its own, one node number per line`}},
		{"large", strings.Repeat("#\n", 200_000), []string{`m.yaml: has 400000 bytes of YAML, more than the limit of 32768; put a long placement into a file of its own, one node number per line`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := Read("m.yaml", []byte(tc.text))
			list := FileErrors(nil)
			if m != nil || !errors.As(err, &list) {
				t.Fatalf("Read = %v, %v, want nil and FileErrors", m, err)
			}
			got := strings.Split(err.Error(), "\n")
			for i := 0; i < max(len(got), len(tc.want)); i++ {
				switch {
				case i >= len(got):
					t.Errorf("error missing: %s", tc.want[i])
				case i >= len(tc.want):
					t.Errorf("error not wanted: %s", got[i])
				case !strings.HasSuffix(got[i], tc.want[i]):
					t.Errorf("error:\n%s\nwant:\n%s", got[i], tc.want[i])
				}
			}
		})
	}
}

func manyPieces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d: 1ns, ", i)
	}
	return strings.TrimSuffix(b.String(), ", ")
}

func TestManyErrorsAreCut(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "key%03d: 1\n", i)
	}
	_, err := Read("m.yaml", []byte(plainMachine+b.String()))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxShown+1 || lines[maxShown] != "m.yaml: and 80 more errors" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	if one := (*FileError)(nil); !errors.As(err, &one) || one.Line != 5 {
		t.Errorf("the first error is %v, want one in line 5", one)
	}
}
