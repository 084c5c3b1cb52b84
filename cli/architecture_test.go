package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/model/machine"
)

// The table of docs/architecture.md names every room that exists.
func TestArchitectureNamesAllRooms(t *testing.T) {
	data, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "What exists now:")
	table, _, found := strings.Cut(rest, "\n`model/unit` and the helpers")
	if !found {
		t.Fatal("the table was not found")
	}
	for _, floor := range []string{"model", "observe", "analyze", "show", "internal"} {
		rooms, err := filepath.Glob(filepath.Join("..", floor, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range rooms {
			name := filepath.Base(room)
			helper := floor == "internal" && strings.Contains(table, "`"+name+"`")
			if !helper && !strings.Contains(table, "`"+floor+"/"+name+"`") {
				t.Errorf("%s/%s does not stand in the table", floor, name)
			}
		}
	}
}

// The machine file of docs/models.md is one, with every key there is.
func TestDocumentedMachineFile(t *testing.T) {
	data, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	m, err := machine.Read("example.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if m.Noise != "altix" || m.Topology["kind"] != "fattree" || m.RanksPerNode != 4 {
		t.Errorf("machine = %+v, want noise altix, topology fattree, 4 ranks per node", m)
	}
}
