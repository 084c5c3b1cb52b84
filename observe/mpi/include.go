package mpi

import (
	"embed"
	"io/fs"
)

//go:embed include
var includeFiles embed.FS

// AddHeaders adds the C headers that all parts may use: what is to know of types and of Fortran's bindings (slackline_mpi.h), the
// system calls that signals cut short (sleeping.h), how MPICH gives up the CPU (yield.h), which clock a process reads
// (clockid.h), how the programs that it starts are left alone (children.h), which threads take signals (signals.h), and
// which functions of MPI others have (displaced.h).
func (s *Source) AddHeaders() error { return s.Add(includeFiles, "include") }

// Add adds the files of a directory.
func (s *Source) Add(files fs.FS, dir string) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return err
	}
	if s.Files == nil {
		s.Files = map[string]string{}
	}
	for _, e := range entries {
		text, err := fs.ReadFile(files, dir+"/"+e.Name())
		if err != nil {
			return err
		}
		s.Files[e.Name()] = string(text)
	}
	return nil
}
