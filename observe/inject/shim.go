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
		Name:  "inject",
		Flags: []string{"-Wall", "-Wextra"},
		Libs:  []string{"-ldl", "-lpthread", "-lrt"},
	}
	if err := s.Add(shimFiles, "shim"); err != nil {
		return s, err
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
