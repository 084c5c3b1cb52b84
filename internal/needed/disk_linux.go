package needed

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inNamespace is set where Disk runs a test again.
const inNamespace = "SLACKLINE_TEST_NAMESPACE"

// Disk calls work with a folder that is a file system of its own, such as "size=1m": it can become full. Who may not mount one does it in a
// namespace, in which the test runs again.
func Disk(t *testing.T, options string, work func(dir string)) {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
	if err == nil {
		defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
		work(dir)
		return
	}
	if os.Getenv(inNamespace) != "" {
		NoError(t, err)
	}
	c := exec.Command(Tool(t, "unshare", "package util-linux"), "--user", "--map-root-user", "--mount", os.Args[0], "-test.v",
		"-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	c.Env = append(os.Environ(), inNamespace+"=1")
	out, err := c.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "--- FAIL"):
		t.Fatal(text)
	case err != nil || !strings.Contains(text, "--- PASS"):
		missing(t, "a file system of its own: "+text)
	}
}
