package inject

import (
	"embed"
	"maps"

	"slackline/observe/mpi"
)

//go:embed shim/*.c shim/*.h
var shimFiles embed.FS

// source is the library with its generated wrappers.
func source() (mpi.Source, error) {
	s := mpi.Source{
		Name: "inject", Files: map[string]string{},
		Flags: []string{"-Wall", "-Wextra"},
		Libs:  []string{"-ldl", "-lpthread", "-lrt"},
	}
	entries, err := shimFiles.ReadDir("shim")
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		text, err := shimFiles.ReadFile("shim/" + e.Name())
		if err != nil {
			return s, err
		}
		s.Files[e.Name()] = string(text)
	}
	if err := s.AddHeaders(); err != nil {
		return s, err
	}
	list, err := functions()
	if err != nil {
		return s, err
	}
	maps.Copy(s.Files, wrapperFiles(list))
	return s, nil
}
