package mpi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"slackline/internal/atomicfile"
	"slackline/internal/trusted"
)

// To ask a compiler what it is takes three runs of it, which is longer than many programs run. The answer is kept until one of the
// files that it depends on changes. Nothing that is run or loaded is taken from what was kept.

// knownLibrary is what is kept of a library.
type knownLibrary struct {
	Kind    Kind     `json:"kind"`
	Version string   `json:"version"`
	Show    string   `json:"show"`
	Needed  []string `json:"needed"`
	Stamps  []string `json:"stamps"` // of the files that this depends on
}

// examineOnce asks a compiler what it is, unless that is known.
func examineOnce(ctx context.Context, cache, path string) (*Library, error) {
	file := filepath.Join(cache, "compilers", compilerKey(path)+".json")
	kept := trusted.Dir(filepath.Dir(file)) == nil // else it is found out each time
	var known knownLibrary
	if data, err := os.ReadFile(file); kept && err == nil && json.Unmarshal(data, &known) == nil && known.Kind != "" &&
		slices.Equal(known.Stamps, stamps(path, known.Show)) {
		return &Library{Kind: known.Kind, Version: known.Version, Compiler: path, Needed: known.Needed, show: known.Show}, nil
	}
	l, err := examine(ctx, path)
	if err != nil {
		return nil, err
	}
	known = knownLibrary{l.Kind, l.Version, l.show, l.Needed, stamps(path, l.show)}
	if kept {
		_ = atomicfile.Write(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(known) })
	}
	return l, nil
}

// compilerKey differs where a compiler may answer differently: its place, and the variables that change it.
func compilerKey(path string) string {
	h := sha256.New()
	fmt.Fprintln(h, 1, path)
	variables := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return !slices.ContainsFunc([]string{"OMPI_", "OPAL_", "MPICH_", "I_MPI_", "MPICC", "PATH=", "CPATH=", "C_INCLUDE_PATH=",
			"LIBRARY_PATH="},
			func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	})
	slices.Sort(variables)
	fmt.Fprintln(h, variables)
	const enough = 16
	return hex.EncodeToString(h.Sum(nil)[:enough])
}

// stamps are the sizes and times of the files that an answer depends on: the compiler, the one it calls, the header and the libraries.
func stamps(path, show string) []string {
	files := []string{path, compilerBehind(show)}
	var places []string
	for _, word := range strings.Fields(show) {
		switch {
		case strings.HasPrefix(word, "-I"):
			files = append(files, filepath.Join(word[2:], "mpi.h"))
		case strings.HasPrefix(word, "-L"):
			places = append(places, word[2:])
		case strings.HasPrefix(word, "-l"):
			for _, dir := range places {
				files = append(files, filepath.Join(dir, "lib"+word[2:]+".so"))
			}
		}
	}
	var list []string
	for _, file := range files {
		if info, err := os.Stat(resolved(file)); err == nil {
			list = append(list, fmt.Sprintf("%s %d %d", resolved(file), info.Size(), info.ModTime().UnixNano()))
		}
	}
	return list
}
