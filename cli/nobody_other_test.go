//go:build !linux

package cli_test

import (
	"os"
	"testing"

	"slackline/internal/needed"
)

// asNobody does something as a user without rights.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	needed.That(t, os.Geteuid() != 0, "a user without rights")
	do()
}
