package needed

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Node runs a script of Node.js that uses packages of npm, which .ci/setup installs. The script reads what is asked as JSON from
// its standard input and prints its answer as JSON.
func Node(t testing.TB, script string, packages []string, asked, answer any) {
	t.Helper()
	node := Tool(t, "node", "nodejs")
	cache, err := os.UserCacheDir()
	NoError(t, err)
	modules := filepath.Join(cache, "slackline-tests", "npm", "node_modules")
	for _, name := range packages {
		_, err := os.Stat(filepath.Join(modules, name))
		NoError(t, err)
	}
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), node, "-e", script)
	c.Env = append(os.Environ(), "NODE_PATH="+modules)
	c.Stdin = strings.NewReader(string(input))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err == nil {
		d := json.NewDecoder(strings.NewReader(string(out)))
		d.UseNumber()
		err = d.Decode(answer)
	}
	if err != nil {
		t.Fatal(err)
	}
}
