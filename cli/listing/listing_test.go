package listing

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"slackline/cli/env"
	"slackline/internal/table"
)

// listed runs the verb list with a table of two rows, or with an error.
func listed(t *testing.T, fault error, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := Command(env.New(args, nil, &out, &bytes.Buffer{}), "noise", "List what there is.", func() (*table.Table, error) {
		tab := table.Of("name", ">rate_per_second=rate")
		tab.Add("altix", table.Cell{Text: "1.2 thousand/s", Value: 1234.5})
		tab.Add("no, such", table.Cell{Text: "-"})
		return tab, fault
	})
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// The rows are the same in each form: rounded with a title for people, exact with a key for programs.
func TestForms(t *testing.T) {
	for format, want := range map[string]string{
		"text": "name                rate\naltix     1.2 thousand/s\nno, such               -\n",
		"csv":  "name,rate_per_second\naltix,1234.5\n\"no, such\",\n",
		"json": "[\n  {\"name\": \"altix\", \"rate_per_second\": 1234.5},\n  {\"name\": \"no, such\", \"rate_per_second\": null}\n]\n",
	} {
		if got, err := listed(t, nil, "--format", format); err != nil || got != want {
			t.Errorf("%s: error %v\n%s\nwant\n%s", format, err, got, want)
		}
	}
	if text, _ := listed(t, nil); !strings.HasPrefix(text, "name ") {
		t.Errorf("without a format: %s", text)
	}
}

func TestMistakes(t *testing.T) {
	fault := errors.New("the list is damaged")
	if got, err := listed(t, fault); !errors.Is(err, fault) || got != "" {
		t.Errorf("%q, error %v; want nothing and %v", got, err, fault)
	}
	for _, args := range [][]string{{"altix"}, {"--format", "xml"}, {"--out", "x"}} {
		if got, err := listed(t, nil, args...); err == nil || got != "" {
			t.Errorf("%v: %q, error %v", args, got, err)
		}
	}
}
