package yamlfile

import (
	"embed"
	"path"
	"slices"
	"strings"
)

// Embedded are the YAML files of a directory that are part of the program.
type Embedded struct {
	Files embed.FS
	Dir   string
}

// Names returns their names without .yaml, sorted.
func (e *Embedded) Names() []string {
	entries, err := e.Files.ReadDir(e.Dir)
	if err != nil {
		return nil // not reached: the directory is embedded
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names) // the order of the files differs: ".yaml" sorts after "-64.yaml"
	return names
}

// Read returns the file of a name. Only a plain name can be one.
func (e *Embedded) Read(name string) (data []byte, ok bool) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil, false
	}
	data, err := e.Files.ReadFile(path.Join(e.Dir, name+".yaml"))
	return data, err == nil
}
