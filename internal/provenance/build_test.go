package provenance

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"slackline/internal/needed"
)

// TestBuild: programs that were made in another way differ, copies do not, with or without the linker's ID.
func TestBuild(t *testing.T) {
	needed.Full(t, "nine builds of a program")
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nvar v string\n\nfunc main() { println(v) }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	build := func(name, flags string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-ldflags", flags, "-o", path, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	for _, more := range []string{"", "-s -w ", "-buildid= "} {
		one, two := buildOf(build("one", more+"-X main.v=1")), buildOf(build("two", more+"-X main.v=2"))
		if again := buildOf(build("again", more+"-X main.v=1")); one == two || one != again || len(one) != 12 {
			t.Errorf("flags %q: builds %s, the same again %s, another %s", more, one, again, two)
		}
	}
	if got := Build(); got == "unknown" {
		t.Errorf("Build() = %q", got)
	}
}
