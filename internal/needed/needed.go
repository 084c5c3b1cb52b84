// Package needed is for tests that cannot do without something of the machine: a compiler, an MPI library, a browser.
// Where it is missing the test is skipped; in continuous integration, where the environment variable CI is set, it
// fails. No other place looks at that variable, so that nothing is skipped there unseen.
//
// It knows nothing of what the tools do.
package needed

import (
	"os"
	"os/exec"
	"testing"
)

// InCI reports whether this is continuous integration, in which nothing may be missing.
func InCI() bool { return os.Getenv("CI") != "" }

// Tool returns the path of a program that the test needs. What brings it may be said in addition, e.g. a package.
func Tool(t testing.TB, name string, from ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		for _, text := range from {
			name += ", " + text + ","
		}
		missing(t, name+" is missing")
	}
	return path
}

// That ends the test unless what it needs is there.
func That(t testing.TB, ok bool, what string) {
	t.Helper()
	if !ok {
		missing(t, what+" is missing")
	}
}

// NoError ends the test if what it needs could not be had; the error says why.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		missing(t, err.Error())
	}
}

// missing fails or skips a test.
func missing(t testing.TB, why string) {
	t.Helper()
	if InCI() {
		t.Fatalf("%s; continuous integration needs it (.ci/setup installs it)", why)
	}
	t.Skip(why)
}
