// Package needed is for tests that depend on something of the machine: a compiler, an MPI library, a browser. A test
// whose tool is missing is skipped; in continuous integration, where the environment variable CI is set, it fails. No
// other place reads that variable, so that nothing is skipped there unseen.
//
// Tests that take long, because they start MPI jobs, a browser or a cluster, are left out by go test -short (make quick).
// No other reason to skip exists: make test runs everything.
//
// It knows nothing about what the tools do.
package needed

import (
	"os"
	"os/exec"
	"testing"
)

// InCI reports whether this is continuous integration, in which nothing may be missing.
func InCI() bool { return os.Getenv("CI") != "" }

// Full skips the test under go test -short (make quick), because what it starts (MPI jobs, a browser, ...) takes too long
// for that. With the race detector, as in make test, it does not.
func Full(t testing.TB, what string) {
	t.Helper()
	if testing.Short() && !raceDetector {
		t.Skip("go test -short leaves out " + what)
	}
}

// Tool returns the path of a program that the test needs. The package that contains it may be given for the message.
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

// NoError ends the test if what it needs is not available; the error is the reason.
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
