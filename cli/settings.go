package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/source"
	"slackline/internal/suggest"
)

// settingNames are the flags that may also be set by a variable (SLACKLINE_ and
// the name in capitals, with _ for -) or in the settings file. They are habits of
// a user, not parts of a question: a file must not change what a command means.
var settingNames = []string{
	"color", "format", "machine", "mapping", "model", "no-progress", "quiet", "seed", "share", "threads",
}

// setting is a value that did not come from the command line.
type setting struct {
	value string
	from  string // for messages
}

// applySettings gives the flags of a command that were not on the command line
// the values of variables, then of the settings file. They do not count as given
// by the user.
func applySettings(a *env.Env, c *cobra.Command) error {
	if name := c.Name(); name == "version" || name == "completion" || name == "help" {
		return nil // these must work with broken settings too
	}
	file, err := readSettings(a, c.Context())
	if err != nil {
		return err
	}
	warnOfVariables(a)
	names := slices.DeleteFunc(slices.Clone(settingNames), func(name string) bool { // those without influence
		f := c.Flags().Lookup(name)
		return f == nil || f.Changed
	})
	variables, err := a.AgreeOnVariables(c.Context(), names)
	if err != nil {
		return err
	}
	for _, name := range names {
		f := c.Flags().Lookup(name)
		s, ok := file[name]
		if value, set := variables[name]; set {
			s, ok = setting{value, env.VariableOf(name)}, true
		}
		if !ok {
			continue
		}
		if err := f.Value.Set(s.value); err != nil {
			return exit.Usagef("%s: %v", s.from, plainError(f, s.value, err))
		}
		flags.MarkSetting(f)
	}
	return nil
}

// warnOfVariables warns of variables that look like a typing error.
func warnOfVariables(a *env.Env) {
	for _, v := range os.Environ() {
		variable, _, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, env.VariablePrefix)
		if !ours {
			continue
		}
		near := suggest.Nearest(name, settingNames)
		if near != "" && env.VariableOf(near) != variable {
			a.Warn("the variable %s is not a setting; did you mean %s?", variable, env.VariableOf(near))
		}
	}
}

// settingsFiles are where the settings may stand; the first one that exists
// holds.
func settingsFiles() []string {
	files := []string{"slackline.yaml"}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "slackline", "config.yaml"))
	}
	return files
}

// settingsText is a settings file.
type settingsText struct {
	Path string // empty: there is none
	Data []byte
}

// readSettings reads the settings file; in a job that of process 0, for all.
func readSettings(a *env.Env, ctx context.Context) (map[string]setting, error) {
	var text settingsText
	err := a.FromFirst(ctx, &text, func() (err error) {
		if text, err = findSettings(); err == nil && text.Path != "" {
			_, err = parseSettings(text.Path, text.Data) // process 0 reports a mistake
		}
		return err
	})
	if err != nil || text.Path == "" {
		return nil, err
	}
	return parseSettings(text.Path, text.Data)
}

func findSettings() (settingsText, error) {
	for _, path := range settingsFiles() {
		data, err := source.Disk(path, source.All)
		if !errors.Is(err, fs.ErrNotExist) {
			return settingsText{path, data}, err
		}
	}
	return settingsText{}, nil
}

// parseSettings reads a settings file: lines of "name: value", comments after #.
// This is the flat part of YAML; more is not needed, and refused.
func parseSettings(path string, data []byte) (map[string]setting, error) {
	settings := map[string]setting{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		where := fmt.Sprintf("%s:%d", path, number)
		line = strings.TrimRight(line, " \t\r\n")
		if rest := strings.TrimLeft(line, " \t"); rest == "" || rest[0] == '#' || line == "---" {
			continue
		}
		name, text, ok := strings.Cut(line, ":")
		if !ok || text != "" && text[0] != ' ' && text[0] != '\t' {
			return nil, fmt.Errorf("%s: a line \"name: value\" is expected", where)
		}
		if !slices.Contains(settingNames, name) {
			return nil, fmt.Errorf("%s: unknown setting %q%s", where, name, suggest.Phrase(name, settingNames))
		}
		if _, twice := settings[name]; twice {
			return nil, fmt.Errorf("%s: %s is set twice", where, name)
		}
		value, ok := plainValue(strings.TrimLeft(text, " \t"))
		if !ok {
			return nil, fmt.Errorf("%s: %s needs a plain value: a word, a number, or text in quotes", where, name)
		}
		settings[name] = setting{value, where + ": " + name}
	}
	return settings, nil
}

// plainValue reads the value of a line: a word, or text in quotes.
func plainValue(text string) (string, bool) {
	if text == "" {
		return "", false
	}
	if quote := text[0]; quote == '"' || quote == '\'' {
		value, rest, closed := strings.Cut(text[1:], string(quote))
		rest = strings.TrimLeft(rest, " \t")
		return value, closed && value != "" && !strings.Contains(value, `\`) && (rest == "" || rest[0] == '#')
	}
	value, _, _ := strings.Cut(text, " #")
	value = strings.TrimRight(value, " \t")
	list := value == "-" || strings.HasPrefix(value, "- ")
	return value, !list && !strings.ContainsAny(value[:1], "{[|>&*!%@`#") && !strings.Contains(value, ": ")
}
