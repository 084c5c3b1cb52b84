package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"

	"slackline/internal/suggest"
)

// settingNames are the flags that may also be set by a variable (SLACKLINE_ and
// the name in capitals, with _ for -) or in the settings file. They are habits of
// a user, not parts of a question: a file must not change what a command means.
var settingNames = []string{
	"color", "format", "machine", "mapping", "model", "no-progress", "quiet", "seed", "threads",
}

const variablePrefix = "SLACKLINE_"

// setting is a value that did not come from the command line.
type setting struct {
	value string
	from  string // for messages
}

// applySettings gives the flags of a command that were not on the command line
// the values of variables, then of the settings file. They do not count as given
// by the user.
func (a *app) applySettings(c *cobra.Command) error {
	if name := c.Name(); name == "version" || name == "completion" || name == "help" {
		return nil // these must work with broken settings too
	}
	file, err := readSettings()
	if err != nil {
		return err
	}
	a.warnOfVariables()
	for _, name := range settingNames {
		f := c.Flags().Lookup(name)
		if f == nil || f.Changed {
			continue
		}
		s, ok := file[name]
		if variable := variableOf(name); os.Getenv(variable) != "" {
			s, ok = setting{os.Getenv(variable), variable}, true
		}
		if !ok {
			continue
		}
		if err := f.Value.Set(s.value); err != nil {
			return usagef("%s: %v", s.from, err)
		}
	}
	return nil
}

func variableOf(name string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// warnOfVariables tells of variables that look like a slip.
func (a *app) warnOfVariables() {
	for _, v := range os.Environ() {
		variable, _, _ := strings.Cut(v, "=")
		name, ours := strings.CutPrefix(variable, variablePrefix)
		if !ours {
			continue
		}
		near := suggest.Nearest(name, settingNames)
		if near != "" && variableOf(near) != variable {
			a.warn("the variable %s is not a setting; did you mean %s?", variable, variableOf(near))
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

func readSettings() (map[string]setting, error) {
	for _, path := range settingsFiles() {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return parseSettings(path, data)
	}
	return nil, nil
}

// parseSettings reads a settings file: a flat mapping of names to plain values.
func parseSettings(path string, data []byte) (map[string]setting, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))
	}
	settings := map[string]setting{}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		entries, ok := doc.Body.(ast.MapNode)
		if !ok {
			return nil, fmt.Errorf("%s: lines of \"name: value\" are expected", path)
		}
		for it := entries.MapRange(); it.Next(); {
			key, where := it.Key().GetToken(), ""
			where = fmt.Sprintf("%s:%d", path, key.Position.Line)
			name := key.Value
			if !slices.Contains(settingNames, name) {
				return nil, fmt.Errorf("%s: unknown setting %q%s", where, name, suggest.Phrase(name, settingNames))
			}
			if _, twice := settings[name]; twice {
				return nil, fmt.Errorf("%s: %s is set twice", where, name)
			}
			scalar, ok := it.Value().(ast.ScalarNode)
			if !ok {
				return nil, fmt.Errorf("%s: %s needs a plain value", where, name)
			}
			settings[name] = setting{fmt.Sprint(scalar.GetValue()), where + ": " + name}
		}
	}
	return settings, nil
}
