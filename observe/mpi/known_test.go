package mpi

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKnown wants a compiler to be asked once, and again as soon as it changes.
func TestKnown(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libmpi_test.so")
	calls := filepath.Join(dir, "calls")
	compiler := filepath.Join(dir, "mpicc.test")
	script := func(version string) {
		text := `#!/bin/sh
echo call >> ` + calls + `
case "$*" in
*-dM*) echo '#define MPICH_VERSION "` + version + `"' ;;
-show) echo "cc -I` + dir + ` -L` + dir + ` -lmpi_test" ;;
*) exec cc -shared -o "$4" -x c /dev/null -nostdlib ;;
esac
`
		if err := os.WriteFile(compiler, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() int {
		data, _ := os.ReadFile(calls)
		os.Remove(calls)
		return len(data) / len("call\n")
	}
	script("4.0")
	want := func(version string, fresh bool) {
		t.Helper()
		l, err := examineOnce(t.Context(), dir, compiler)
		if err != nil {
			t.Fatal(err)
		}
		if n := asked(); l.Version != version || l.Kind != MPICH || l.Compiler != compiler || (n > 0) != fresh {
			t.Errorf("version = %s after %d calls of the compiler, want %s and fresh = %v", l.Version, n, version, fresh)
		}
	}
	want("4.0", true)
	want("4.0", false)
	script("4.1.0") // of another size
	want("4.1.0", true)
	want("4.1.0", false)
	if err := os.WriteFile(library, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want("4.1.0", true)
	if err := os.Chtimes(library, time.Now(), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	want("4.1.0", true)
	t.Setenv("MPICH_CC", "other")
	want("4.1.0", true)
}
