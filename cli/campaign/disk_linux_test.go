package campaign_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"slackline/cli/clitest"
)

// TestCampaignFullDisk wants the reason why a run that fills the disk has no result.
func TestCampaignFullDisk(t *testing.T) {
	dir := campaignFiles(t, nil)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be made here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
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
}
