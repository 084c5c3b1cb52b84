package campaign

import (
	"testing"

	"slackline/observe/campaign"
)

// The line of progress says how many runs wait for a batch system, and each reason once.
func TestProgressText(t *testing.T) {
	p := campaign.Progress{Running: 3, Total: 4, Queued: []string{"PartitionNodeLimit", "PartitionNodeLimit", "Priority"}}
	if got, want := progressText(p), "0 of 4 runs, 3 at work, of them 3 in the queue (PartitionNodeLimit; Priority)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
