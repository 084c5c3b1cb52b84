package mpi

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrStatic means that a program has MPI built in, so that nothing can be put between.
var ErrStatic = errors.New("MPI is linked into the program statically; link it with the shared MPI library")

// loaded is what a program loads.
type loaded struct {
	names    []string // of libraries, also of those that libraries need
	static   bool     // it loads nothing
	hasMPI   bool     // it defines MPI functions itself
	script   bool     // not a program but a text that another one interprets
	imported []string // functions that it takes from libraries
}

// neededBy returns what a program or library loads, by following the libraries as the system would.
func neededBy(path string) (*loaded, error) {
	head := make([]byte, 4)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n, _ := f.Read(head)
	f.Close()
	if !bytes.Equal(head[:n], []byte(elf.ELFMAG)) {
		return &loaded{script: true}, nil
	}
	out := &loaded{}
	e, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer e.Close()
	out.static = e.Section(".dynamic") == nil
	out.hasMPI = defines(e, "PMPI_Init")
	imported, _ := e.ImportedSymbols() // a static program has none
	for _, s := range imported {
		out.imported = append(out.imported, s.Name)
	}
	type library struct {
		name   string
		origin []string // where the object that needs it looks
	}
	var queue []library
	add := func(e *elf.File, path string) {
		names, _ := e.ImportedLibraries()
		paths := searchPaths(e, path)
		for _, n := range names {
			queue = append(queue, library{n, paths})
		}
	}
	add(e, path)
	for len(queue) > 0 {
		l := queue[0]
		queue = queue[1:]
		if slices.Contains(out.names, l.name) {
			continue
		}
		out.names = append(out.names, l.name)
		if file := locate(l.name, l.origin, e.Class); file != "" {
			if sub, err := elf.Open(file); err == nil {
				add(sub, file)
				sub.Close()
			}
		}
	}
	return out, nil
}

// defines reports whether a file has a function of that name itself.
func defines(e *elf.File, name string) bool {
	static, _ := e.Symbols()
	dynamic, _ := e.DynamicSymbols()
	return slices.ContainsFunc(append(static, dynamic...), func(s elf.Symbol) bool {
		return s.Name == name && s.Section != elf.SHN_UNDEF
	})
}

// searchPaths are the directories that a file names itself.
func searchPaths(e *elf.File, path string) []string {
	var list []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, _ := e.DynString(tag)
		for _, v := range values {
			for _, dir := range filepath.SplitList(v) {
				origin := filepath.Dir(resolved(path))
				dir = strings.ReplaceAll(strings.ReplaceAll(dir, "${ORIGIN}", origin), "$ORIGIN", origin)
				list = append(list, dir)
			}
		}
	}
	return list
}

// locate finds the file of a library.
func locate(name string, paths []string, class elf.Class) string {
	if strings.Contains(name, "/") {
		return name
	}
	dirs := slices.Concat(paths, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")), systemDirs())
	for _, dir := range dirs {
		file := filepath.Join(dir, name)
		e, err := elf.Open(file)
		if err != nil {
			continue
		}
		same := e.Class == class
		e.Close()
		if same {
			return file
		}
	}
	return ""
}

// systemDirs are the directories that the system searches.
func systemDirs() []string {
	list := configDirs("/etc/ld.so.conf", 0)
	return append(list, "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
}

// configDirs reads the directories of a configuration of the dynamic linker.
func configDirs(path string, depth int) []string {
	const mostDepth = 4
	data, err := os.ReadFile(path)
	if err != nil || depth > mostDepth {
		return nil
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include"); ok {
			files, _ := filepath.Glob(strings.TrimSpace(pattern))
			for _, f := range files {
				list = append(list, configDirs(f, depth+1)...)
			}
		} else if strings.HasPrefix(line, "/") {
			list = append(list, line)
		}
	}
	return list
}
