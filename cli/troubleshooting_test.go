package cli_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/observe/mpi/mpitest"
)

var inlineCode = regexp.MustCompile("`[^`\n]+`")

// commandsIn are the commands of a document that no console block holds: lines that are indented as code, and code within
// text, that begin with the name of a program.
func commandsIn(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.SplitSeq(string(data), "\n") {
		code := inlineCode.FindAllString(line, -1)
		if strings.HasPrefix(line, "    ") {
			code = append(code, line)
		}
		for _, text := range code {
			text = strings.Trim(text, "` ")
			if program, rest, _ := strings.Cut(text, " "); rest != "" &&
				slices.Contains([]string{"slackline", "mpirun", "mpiexec", "srun", "sbatch", "ssh", "module"}, program) {
				list = append(list, text)
			}
		}
	}
	return list
}

// TestTroubleshooting runs the commands of docs/troubleshooting.md that TestDocuments does not, with less work. Those of
// Slurm are run by TestSlurm.
func TestTroubleshooting(t *testing.T) {
	mpitest.Libraries(t)
	short := map[string][]string{
		"slackline measure network": {"--rounds", "2", "--repeat", "5", "--max-size", "64B"},
		"slackline measure noise":   {"--time", "200ms"},
	}
	dir := t.TempDir()
	self, err := exec.LookPath("slackline") // which TestMain provides; a link to this test would run all tests again
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, text := range commandsIn(t, "../docs/troubleshooting.md") {
		words := strings.Fields(text)
		if words[0] == "srun" || text == "module load ..." {
			continue
		}
		count++
		c := exec.Command(self, append(words[1:], short[strings.Join(words[:min(3, len(words))], " ")]...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		// A busy machine cannot be measured; that is no mistake of the document.
		busy := strings.Contains(string(out), "the measurement makes no sense") ||
			strings.Contains(string(out), "the measurement is inconclusive")
		if err != nil && !busy {
			t.Errorf("%s: %v\n%s", text, err, out)
		}
	}
	if count < 2 {
		t.Errorf("only %d commands were found", count)
	}
}
