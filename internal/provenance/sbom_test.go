package provenance

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestBillOfMaterials(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.2.3", Sum: "h1:x"},
		{Path: "example.org/b", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0"}},
	}}
	data, err := json.Marshal(billOf(info))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		BomFormat, SpecVersion string
		Components             []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.BomFormat != "CycloneDX" || got.SpecVersion != "1.6" {
		t.Errorf("form %s %s", got.BomFormat, got.SpecVersion)
	}
	want := []string{"pkg:golang/std@go1.26.8", "pkg:golang/example.org/a@v1.2.3", "pkg:golang/example.org/c@v2.0.0"}
	if len(got.Components) != len(want) {
		t.Fatalf("%d components, want %d", len(got.Components), len(want))
	}
	for i, c := range got.Components {
		if c.Purl != want[i] {
			t.Errorf("component %d is %s, want %s", i, c.Purl, want[i])
		}
	}
}
