package collective

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"slackline/internal/source"
	"slackline/internal/suggest"
)

//go:embed mappings/*.yaml
var mappingFiles embed.FS

var defaultMapping struct {
	once    sync.Once
	mapping *Mapping
}

// DefaultMapping returns the mapping named default.
func DefaultMapping() *Mapping {
	defaultMapping.once.Do(func() { defaultMapping.mapping = mustEmbedded("default") })
	return defaultMapping.mapping
}

// mappingNames lists the embedded mappings, the default first. The rest is in order.
var mappingNames = sync.OnceValue(func() []string {
	entries, err := mappingFiles.ReadDir("mappings")
	if err != nil {
		panic(err) // the directory is embedded
	}
	names := []string{"default"}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); name != "default" {
			names = append(names, name)
		}
	}
	return names
})

// MappingNames returns the names of the mappings that are built in.
func MappingNames() []string { return slices.Clone(mappingNames()) }

// mustEmbedded reads a mapping that is built in. A mistake in it is one of the programmer.
func mustEmbedded(name string) *Mapping {
	data, err := mappingFiles.ReadFile(path.Join("mappings", name+".yaml"))
	if err == nil {
		var m *Mapping
		if m, err = parseMapping(name, data); err == nil {
			return m
		}
	}
	panic(fmt.Sprintf("mapping %s: %v", name, err))
}

// NamedMapping returns the mapping with the given name among those that are built in.
func NamedMapping(name string) (*Mapping, error) {
	if name == "default" {
		return DefaultMapping(), nil
	}
	if slices.Contains(mappingNames(), name) {
		return mustEmbedded(name), nil
	}
	return nil, fmt.Errorf("there is no mapping %q%s (known: %s)",
		name, suggest.Phrase(name, mappingNames()), strings.Join(mappingNames(), ", "))
}

// FindMapping returns the mapping with the given name or, if there is none, reads the file with
// that path.
func FindMapping(nameOrPath string) (*Mapping, error) {
	return FindMappingFrom(source.Disk, nameOrPath)
}

// FindMappingFrom is FindMapping with files from a source.
func FindMappingFrom(from source.Source, nameOrPath string) (*Mapping, error) {
	if slices.Contains(mappingNames(), nameOrPath) {
		return NamedMapping(nameOrPath)
	}
	data, err := from(nameOrPath, source.All)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(nameOrPath, "./\\"):
		_, err := NamedMapping(nameOrPath)
		return nil, fmt.Errorf("%w, and no such file", err)
	case err != nil:
		return nil, fmt.Errorf("mapping: %w", err)
	}
	return ReadMapping(nameOrPath, data)
}
