package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/model/unit"
)

func TestFormatText(t *testing.T) {
	m, err := Load("testdata/together-00.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m.Topology = map[string]string{"k": "16", "kind": "fattree", "wire": "274ns"}
	m.Noise, m.Gamma = "noise file.txt", 100_000
	m.Placement.Nodes = []int32{0, 0, 7}
	m.NCCL = NCCL{Channels: 4, Protocols: [numProtocols]Protocol{{}, {Node: 1_300_000, Data: 920_000}, {Far: 7_000_000}}}
	const want = `name: together-00
note: "all at once, random program"
L: 1.6us
o: {0B: 700ns, 512B: 1.1us}
g: 900ns
G: {0B: 3ns, 1KiB: 2ns}
O: 0
S: 2KiB
gamma: 0.1ns
ranks_per_node: 4
nodes_per_switch: 2
nic: node
classes:
  node: {L: 300ns, o: 200ns, g: 100ns, G: 1ns, S: 1KiB}
  switch: {L: 900ns, o: 700ns, G: {0B: 2ns, 512B: 1ns}, S: 64KiB}
placement: [0, 0, 7]
noise: "noise file.txt"
topology: {kind: fattree, k: 16, wire: 274ns}
nccl:
  channels: 4
  LL128: {node: 1.3us, far: 0, efficiency: 0.92}
  Simple: {node: 0, far: 7us}
`
	if diff := cmp.Diff(want, string(Format(m))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// What is written is read back as an equal machine.
func TestFormatRoundTrip(t *testing.T) {
	words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "null", "~", "12", "true", "a: b", "# x", " x", "-", "line\nline\n",
		"\"", "1e3", ".5", "0x1F"}))
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t, rapid.IntRange(1, 60).Draw(t, "ranks"))
		m.Name = rapid.SampledFrom([]string{"a", "null", "12", "ä b", "yes", "-x", "x: y"}).Draw(t, "name")
		m.Note = strings.ToValidUTF8(words.Draw(t, "note"), "?")
		m.Noise = strings.NewReplacer("\n", "", "\r", "").Replace(strings.ToValidUTF8(words.Draw(t, "noise"), "?"))
		m.Gamma = unit.PerByte(rapid.Int64Min(0).Draw(t, "gamma"))
		if rapid.Bool().Draw(t, "topology") {
			m.Topology = map[string]string{"kind": "torus", "dims": "4x4", "switch": "108ns"}
		}
		if rapid.Bool().Draw(t, "nccl") {
			m.NCCL.Channels = rapid.IntRange(0, 40).Draw(t, "channels")
			for i := range m.NCCL.Protocols {
				m.NCCL.Protocols[i] = Protocol{
					Node: unit.Duration(rapid.Int64Range(0, 1e9).Draw(t, "node")), Far: unit.Duration(rapid.Int64Range(0, 1e9).Draw(t, "far")),
					Data: rapid.Int64Range(0, 1_000_000).Draw(t, "efficiency"),
				}
			}
		}
		text := Format(m)
		back, err := Read("x.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(m, back); diff != "" {
			t.Fatalf("want -, got +:\n%s\n%s", diff, text)
		}
	})
}

func TestFormatLongPlacement(t *testing.T) {
	m := FromParams("m", params(1, 2, 3, 4, 5, 6))
	for r := range int32(100_000) {
		m.Placement.Nodes = append(m.Placement.Nodes, r/3)
	}
	back, err := Read("x.yaml", Format(m))
	if err != nil || !slices.Equal(back.Placement.Nodes, m.Placement.Nodes) {
		t.Errorf("a long placement is not read back: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(plainMachine + "topology: {kind: fattree, k: 16}\nplacement: [0, 1]\n"))
	f.Add([]byte(plainMachine + "placement:\n" + strings.Repeat("- 11\n", longPlacement/4) + "nic: node\n"))
	f.Add([]byte(plainMachine + "placement: [" + strings.Repeat("3, ", longPlacement/2) + "]\nnic: node\n"))
	f.Add([]byte("L: 1us\nL: {a: [b, {c: d}]}\n? x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "placement:") && strings.ContainsAny(string(data), "/") {
			t.Skip("may name a file elsewhere")
		}
		m, err := Read("dir/fuzz.yaml", data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without text")
			}
			return
		}
		back, err := Read("dir/fuzz.yaml", Format(m))
		if err != nil {
			t.Fatalf("written machine is refused: %v\n%s", err, Format(m))
		}
		if diff := cmp.Diff(m, back); diff != "" {
			t.Fatalf("want -, got +:\n%s\n%s", diff, Format(m))
		}
	})
}
