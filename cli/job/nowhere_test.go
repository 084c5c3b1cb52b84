package job

import (
	"os"
	"testing"
)

// TestNowhere: names relative to the directory of process 0 mean nothing where that does not exist.
func TestNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("run.slk", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := goNowhere(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("run.slk"); !os.IsNotExist(err) {
		t.Errorf("a file is found: %v", err)
	}
	if err := os.WriteFile("new", nil, 0o666); err == nil {
		t.Error("a file was made")
	}
}
