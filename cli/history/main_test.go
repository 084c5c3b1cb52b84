package history_test

import (
	"testing"

	"slackline/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }
