package phrase

import "testing"

func TestCommand(t *testing.T) {
	got := Command("slackline", "waits", "my run.slt", "it's", "-L", "2us", "a=b", "", "a`$(id)`")
	want := `slackline waits 'my run.slt' 'it'\''s' -L 2us a=b '' 'a'$'\140''$(id)'$'\140'''`
	if got != want {
		t.Errorf("Command = %s, want %s", got, want)
	}
}
