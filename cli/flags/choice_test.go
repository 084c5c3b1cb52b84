package flags

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestChoice(t *testing.T) {
	fs := pflag.NewFlagSet("verb", pflag.ContinueOnError)
	var value string
	AddChoice(fs, &value, "format", "", "text", "text", "json", "csv")
	c := fs.Lookup("format").Value
	if got := c.Type(); got != "text|json|csv" {
		t.Errorf("Type() = %q", got)
	}
	err := c.Set("jsn")
	if err == nil || !strings.Contains(err.Error(), `"jsn" is not one of text, json, csv; did you mean json?`) {
		t.Errorf("error = %v, want the words and a suggestion", err)
	}
	if value != "text" {
		t.Errorf("a wrong word changed the value to %q", value)
	}
	if err := c.Set("csv"); err != nil || c.String() != "csv" || value != "csv" {
		t.Errorf("Set(csv) = %v, value %q", err, c.String())
	}
}

// TestCompletion wants words by their beginning: of flags that are a choice, and of the last part of a list.
func TestCompletion(t *testing.T) {
	command := &cobra.Command{Use: "verb", Run: func(*cobra.Command, []string) {}}
	var format string
	AddChoice(command.Flags(), &format, "format", "", "text", "text", "json", "csv")
	command.Flags().String("metrics", "", "")
	command.Flags().String("name", "", "")
	CompleteChoices(command, command.Flags())
	CompleteList(command, "metrics", []string{"time", "visits"})
	for _, tc := range []struct{ flag, prefix, want string }{
		{"format", "", "text json csv"},
		{"format", "j", "json"},
		{"format", "x", ""},
		{"metrics", "v", "visits"},
		{"metrics", "visits,t", "visits,time"},
	} {
		offer, ok := command.GetFlagCompletionFunc(tc.flag)
		if !ok {
			t.Fatalf("--%s has no completion", tc.flag)
		}
		if words, _ := offer(command, nil, tc.prefix); strings.Join(words, " ") != tc.want {
			t.Errorf("--%s %s: %q, want %q", tc.flag, tc.prefix, words, tc.want)
		}
	}
	if _, ok := command.GetFlagCompletionFunc("name"); ok {
		t.Error("a flag with any text has a completion")
	}
}
