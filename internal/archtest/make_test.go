package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestNothingIsSkipped checks that make test, which continuous integration runs, runs all tests without -short.
func TestNothingIsSkipped(t *testing.T) {
	data, err := os.ReadFile(projectRoot(t) + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"lint", "unit", "race-beside", "race-last"} {
		if !regexp.MustCompile(`(?m)^test:.*\n(\t.*\n)*\t@\$\(MAKE\).* ` + part + `\b`).Match(data) {
			t.Errorf("Makefile: test does not run %s", part)
		}
	}
	unit := regexp.MustCompile(`(?m)^unit:.*\n\t(.*)$`).FindStringSubmatch(string(data))
	if unit == nil || !strings.HasPrefix(unit[1], "go test ") || !strings.HasSuffix(unit[1], " ./...") || strings.Contains(unit[1], "-short") {
		t.Errorf("Makefile: unit runs %q, want go test of all packages without -short", unit)
	}
}
