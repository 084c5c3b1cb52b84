package mpi

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Named returns the library that a user means: by a part of its name and version, by its compiler, or, without a name, the
// first one.
func Named(list []*Library, wanted string) (*Library, error) {
	if wanted == "" && len(list) > 0 {
		return list[0], nil
	}
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, l := range list {
		if l.Compiler == wanted || filepath.Base(l.Compiler) == wanted || strings.Contains(plain(l.String()), plain(wanted)) {
			return l, nil
		}
	}
	return nil, fmt.Errorf("there is no such MPI as %q; there are %s", wanted, names(list))
}
