package machine

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
)

//go:embed machines/*.yaml
var machineFiles embed.FS

var embedded = yamlfile.Embedded{Files: machineFiles, Dir: "machines"}

// Names returns the names of the embedded machines, sorted.
func Names() []string { return embedded.Names() }

// Named returns an embedded machine.
func Named(name string) (*Machine, error) {
	data, ok := embedded.Read(name)
	if !ok {
		return nil, fmt.Errorf("unknown machine %s%s (known: %s)",
			yamlfile.Quote(name), suggest.Phrase(name, Names()), strings.Join(Names(), ", "))
	}
	return Read(name, data)
}

// Find returns the embedded machine of this name, else reads the file.
func Find(nameOrPath string) (*Machine, error) { return FindFrom(source.Disk, nameOrPath) }

// FindFrom is Find with files from a source.
func FindFrom(from source.Source, nameOrPath string) (*Machine, error) {
	if data, ok := embedded.Read(nameOrPath); ok {
		return read(from, nameOrPath, data)
	}
	m, err := load(from, nameOrPath)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(nameOrPath) == nameOrPath {
		return nil, fmt.Errorf("machine %s is neither a file nor built in%s (built in: %s)",
			yamlfile.Quote(nameOrPath), suggest.Phrase(nameOrPath, Names()), strings.Join(Names(), ", "))
	}
	return m, err
}
