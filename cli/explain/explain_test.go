package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// listed are the words that are explained, with what the list says of each.
func listed(t *testing.T) map[string]string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", "explain")
	if code != 0 {
		t.Fatal(stderr)
	}
	list := map[string]string{}
	name := ""
	for i, line := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		if i == 0 {
			continue
		}
		if !strings.HasPrefix(line, " ") { // else it goes on
			name, line, _ = strings.Cut(line, " ")
			if list[name] != "" {
				t.Errorf("%s is listed twice", name)
			}
		}
		list[name] = strings.TrimSpace(list[name] + " " + strings.TrimSpace(line))
	}
	return list
}

// TestTopics: each word of the list is explained by more than the list says, in whatever way it is written, and by nothing twice.
func TestTopics(t *testing.T) {
	texts := map[string]string{}
	for name, short := range listed(t) {
		code, text, stderr := clitest.Run("", "explain", name)
		if code != 0 || short == "" || len(text) < 20 || !strings.HasSuffix(text, ".\n") {
			t.Errorf("%s (%s): exit code %d\n%s%s", name, short, code, text, stderr)
		}
		if other := texts[text]; other != "" {
			t.Errorf("%s and %s have the same explanation", name, other)
		}
		texts[text] = name
		for _, word := range []string{strings.ReplaceAll(strings.ToUpper(name), "_", "-"), strings.Replace(name, "_", " ", 1)} {
			if _, same, stderr := clitest.Run("", "explain", word); same != text {
				t.Errorf("%q is not explained as %s is:\n%s%s", word, name, same, stderr)
			}
		}
	}
}

// TestMetricsOfResults: what the results of waits and profile name is explained.
func TestMetricsOfResults(t *testing.T) {
	list := listed(t)
	run := clitest.LateSenderTrace(t)
	var d struct{ Waits []struct{ Metric string } }
	_, stdout, stderr := clitest.Run("", "waits", run, "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || len(d.Waits) == 0 {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, w := range d.Waits {
		if list[w.Metric] == "" {
			t.Errorf("%s is not explained", w.Metric)
		}
	}
	for _, word := range []string{"parallel_efficiency", "load_balance", "communication_efficiency", "transfer_efficiency", "ipc"} {
		if list[word] == "" {
			t.Errorf("%s is not explained", word)
		}
	}
}

// TestSchemas: the schema of every document that is offered is one.
func TestSchemas(t *testing.T) {
	_, _, stderr := clitest.Run("", "explain", "--schema", "nothing")
	_, names, ok := strings.Cut(stderr, "give one of ")
	if !ok {
		t.Fatal(stderr)
	}
	names, _, _ = strings.Cut(strings.TrimSpace(names), ";")
	for _, name := range strings.Split(names, ", ") {
		var schema struct {
			Schema string `json:"$schema"`
		}
		code, stdout, stderr := clitest.Run("", "explain", "--schema", name)
		if err := json.Unmarshal([]byte(stdout), &schema); code != 0 || err != nil || !strings.Contains(schema.Schema, "json-schema.org") {
			t.Errorf("%s: exit code %d, %v\n%.200s%s", name, code, err, stdout, stderr)
		}
	}
}

func TestErrors(t *testing.T) {
	for args, want := range map[string]string{
		"late_sendr":                    `"late_sendr" is not a metric; 'slackline explain' lists them; did you mean late_sender?`,
		"a b":                           "one metric at a time, not 2",
		"late_sender --schema simulate": "leave late_sender out",
		"--schema simulat":              `no JSON document "simulat"`,
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"explain"}, strings.Fields(args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("explain %s: exit code %d, want 2\n%s%s", args, code, stdout, stderr)
		}
	}
}
