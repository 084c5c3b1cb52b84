package atomicfile

import (
	"os"
	"path/filepath"
)

// Same reports whether two paths name one file, however they are spelt, also if
// that file does not exist yet. Devices and pipes can be written to twice, so
// they count as different.
func Same(a, b string) bool {
	i, errA := os.Stat(a)
	j, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(i, j) && (i.Mode().IsRegular() || i.IsDir())
	}
	return errA != nil && errB != nil && place(a) == place(b)
}

// place is the one spelling of a path to a new file: the directory without
// symbolic links, and the name.
func place(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	dir, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, name)
}
