package machine

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
)

//go:embed machines/*.yaml
var machineFiles embed.FS

// Names returns the names of the embedded machines, sorted.
func Names() []string {
	entries, err := machineFiles.ReadDir("machines")
	if err != nil {
		return nil // not reached: the directory is embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(names) // the order of the files differs: ".yaml" sorts after "-64.yaml"
	return names
}

// Named returns an embedded machine.
func Named(name string) (*Machine, error) {
	data, err := embedded(name)
	if err != nil {
		return nil, fmt.Errorf("unknown machine %s%s (known: %s)",
			yamlfile.Quote(name), suggest.Phrase(name, Names()), strings.Join(Names(), ", "))
	}
	return Read(name, data)
}

// Find returns the embedded machine of this name, else reads the file.
func Find(nameOrPath string) (*Machine, error) { return FindFrom(source.Disk, nameOrPath) }

// FindFrom is Find with files from a source.
func FindFrom(from source.Source, nameOrPath string) (*Machine, error) {
	if data, err := embedded(nameOrPath); err == nil {
		return read(from, nameOrPath, data)
	}
	m, err := load(from, nameOrPath)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(nameOrPath) == nameOrPath {
		return nil, fmt.Errorf("machine %s is neither a file nor built in%s (built in: %s)",
			yamlfile.Quote(nameOrPath), suggest.Phrase(nameOrPath, Names()), strings.Join(Names(), ", "))
	}
	return m, err
}

// embedded returns the file of an embedded machine. Only a plain name can be one.
func embedded(name string) ([]byte, error) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil, fs.ErrNotExist
	}
	return machineFiles.ReadFile("machines/" + name + ".yaml")
}
