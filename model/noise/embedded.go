package noise

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
)

//go:embed profiles/*.yaml
var profileFiles embed.FS

var embedded = yamlfile.Embedded{Files: profileFiles, Dir: "profiles"}

// Names returns the names of the embedded profiles, sorted.
func Names() []string { return embedded.Names() }

// Named returns an embedded profile.
func Named(name string) (*Profile, error) {
	if data, ok := embedded.Read(name); ok {
		return Read(name, data)
	}
	return nil, fmt.Errorf("noise: unknown profile %s%s (built in: %s)",
		yamlfile.Quote(name), suggest.Phrase(name, Names()), strings.Join(Names(), ", "))
}

// Find returns the embedded profile of this name, else reads the file, else reads the word as a
// specification.
func Find(word string) (*Profile, error) { return FindFrom(source.Disk, word) }

// FindFrom is Find with files from a source.
func FindFrom(from source.Source, word string) (*Profile, error) {
	if data, ok := embedded.Read(word); ok {
		return Read(word, data)
	}
	p, err := LoadFrom(from, word)
	if err == nil {
		return p, nil
	}
	if cannotOpen := (*fs.PathError)(nil); errors.As(err, &cannotOpen) && looksLikeSpec(word) {
		return Parse(word)
	}
	if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(word, `/\`) {
		return nil, err
	}
	return nil, fmt.Errorf("noise: %s is neither a built-in profile nor a file%s (built in: %s; or a specification: %s)",
		yamlfile.Quote(word), suggest.Phrase(word, Names()), strings.Join(Names(), ", "), SpecHelp)
}
