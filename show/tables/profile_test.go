package tables

import (
	"bytes"
	"strings"
	"testing"

	"slackline/analyze/profile"
	"slackline/internal/table"
	"slackline/model/timeline"
)

// The line of characters over the run keeps its blanks, however narrow the screen is: each has its place.
func TestCollectivesOverTheRun(t *testing.T) {
	over := make([]int64, 60)
	over[0], over[59] = 8, 8
	var out bytes.Buffer
	uses := []profile.CollectiveUse{{Op: timeline.OpAllreduce, Ranks: 4, Calls: 16, Over: over}}
	Collectives(uses).WriteText(&out, table.TextOptions{Width: 85})
	if want := "|#" + strings.Repeat(" ", 58) + "#|"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}
