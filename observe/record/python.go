package record

import (
	"path/filepath"
	"regexp"
	"strings"
)

// pythonCode marks, in a call path, the number of a function of Python in the place of an address.
const pythonCode = 1 << 62

// interpreter stands for the interpreter of Python where the recorder could not read the frames of the program.
var interpreter = function{name: "python", part: true}

// pythonProgram matches programs that only start the interpreter, which they have in a library.
var pythonProgram = regexp.MustCompile(`^python3(\.\d+)?$`)

// isPythonGlue reports whether a file only joins Python to MPI.
func isPythonGlue(path string) bool {
	dir, base := filepath.Split(path)
	return filepath.Base(dir) == "mpi4py" && strings.HasPrefix(base, "MPI.")
}

// pythonFunction reads the definition of a function of Python: its first line, its name and its file.
func pythonFunction(rec *rawRecord) function {
	text := string(rec.data[min(8, len(rec.data)):])
	name, rest, _ := strings.Cut(text, "\x00")
	file, _, _ := strings.Cut(rest, "\x00")
	f := function{name: strings.ToValidUTF8(name, "?"), file: strings.ToValidUTF8(file, "?"), line: int(int32(rec.word(0)))}
	if f.name == "<module>" {
		f.name = filepath.Base(f.file)
	}
	return f
}

// python returns the function of Python that an address of a call path stands for.
func (d *threadDefinitions) python(address uint64) (function, bool) {
	if address&pythonCode == 0 || address&exactAddress != 0 {
		return function{}, false
	}
	f, ok := d.codes[uint32(address)]
	return f, ok
}

// shown are the frames of a function of Python: none for those by which Python imports or starts a module.
func shown(f function) []function {
	if strings.HasPrefix(f.file, "<frozen ") {
		return nil
	}
	return []function{f}
}
