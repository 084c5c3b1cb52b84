package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"slackline/internal/needed"
)

// TestPythonPackage runs the tests of the Python package, among them the cells of its notebook.
func TestPythonPackage(t *testing.T) {
	needed.Full(t, "Python")
	c := exec.Command(needed.Tool(t, "python3"), "-m", "unittest", "--quiet")
	c.Dir = filepath.Join("..", "python")
	c.Env = append(os.Environ(), "SLACKLINE=", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("python3 -m unittest: %v\n%s", err, out)
	}
}
