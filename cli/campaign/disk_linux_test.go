package campaign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// TestCampaignFullDisk wants the reason why a run that fills the disk has no result.
func TestCampaignFullDisk(t *testing.T) {
	needed.Disk(t, "size=1m", func(dir string) {
		plan := "parameters: {p: 1}\ncommand: sh -c 'head -c 4M /dev/zero > {dir}/file; true'\n"
		if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(plan), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"run", "status"} {
			c := clitest.Program("campaign", verb, "plan.yaml")
			c.Dir = dir
			out, _ := c.CombinedOutput()
			if !strings.Contains(string(out), "result.json: no space left on device") {
				t.Errorf("campaign %s says\n%s\nwant that there is no space left", verb, out)
			}
		}
	})
}
