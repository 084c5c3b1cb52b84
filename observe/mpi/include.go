package mpi

import "embed"

//go:embed include
var includeFiles embed.FS

// AddHeaders adds the C headers that all preloaded libraries may use: what is to know of Fortran's bindings
// (slackline_mpi.h), and the system calls that signals cut short (sleeping.h).
func (s *Source) AddHeaders() error {
	entries, err := includeFiles.ReadDir("include")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := includeFiles.ReadFile("include/" + e.Name())
		if err != nil {
			return err
		}
		s.Files[e.Name()] = string(text)
	}
	return nil
}
