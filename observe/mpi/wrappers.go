package mpi

import (
	"fmt"
	"slices"
	"strings"
)

// WrapperFiles writes the C sources of wrappers of functions, so many in each file, which can be compiled side by side
// and start with the head. The callers write the wrappers of a function, which has a number in the list: that of the C
// binding, also of the form with large counts, which has a suffix, and those of the Fortran bindings. Functions that an
// MPI of an older standard lacks are left out when they are compiled.
func WrapperFiles(list []Function, perFile int, head string,
	writeC func(b *strings.Builder, f Function, number int, suffix string),
	writeFortran func(b *strings.Builder, f Function, number int)) map[string]string {
	files := map[string]string{}
	number := 0
	for part := range slices.Chunk(list, perFile) {
		var b strings.Builder
		b.WriteString(head)
		for _, f := range part {
			if f.Since != "3" {
				fmt.Fprintf(&b, "\n#if MPI_VERSION >= %s", f.Since)
			}
			writeC(&b, f, number, "")
			writeFortran(&b, f, number)
			if f.Since != "3" {
				b.WriteString("#endif\n")
			}
			if f.Large {
				b.WriteString("\n#if MPI_VERSION >= 4")
				writeC(&b, f.withLargeCounts(), number, "_c")
				b.WriteString("#endif\n")
			}
			number++
		}
		files[fmt.Sprintf("wrappers%d.c", len(files))] = b.String()
	}
	return files
}
