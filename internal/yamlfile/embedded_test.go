package yamlfile

import (
	"embed"
	"slices"
	"testing"
)

//go:embed testdata/embedded
var embeddedFiles embed.FS

// Names are sorted without their suffix; only plain names are read.
func TestEmbedded(t *testing.T) {
	e := Embedded{Files: embeddedFiles, Dir: "testdata/embedded"}
	if got, want := e.Names(), []string{"a", "a-64"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if data, ok := e.Read("a-64"); !ok || string(data) != "name: a-64\n" {
		t.Errorf("a-64: %q, %v", data, ok)
	}
	for _, name := range []string{"", "b", "../embedded/a", `..\a`, "a.yaml"} {
		if _, ok := e.Read(name); ok {
			t.Errorf("%q was read", name)
		}
	}
	if names := (&Embedded{Files: embeddedFiles, Dir: "none"}).Names(); names != nil {
		t.Errorf("names of a directory that is not embedded: %q", names)
	}
}
