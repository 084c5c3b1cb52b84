package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeepRecursion: nested calls whose names are too long together are refused for all verbs, by the name of the file.
func TestDeepRecursion(t *testing.T) {
	for depth, fits := range map[int]bool{8_000: true, 40_000: false} {
		var b strings.Builder
		b.WriteString("slackline trace 1\nunit us\nresolution 1000000\n\nrank 0\n")
		for i := range depth {
			fmt.Fprintf(&b, "%d f {\n", i)
		}
		fmt.Fprintf(&b, "%d..%d MPI_Barrier: barrier\n", depth, depth+1)
		for i := range depth {
			fmt.Fprintf(&b, "} %d\n", depth+1+i)
		}
		path := filepath.Join(t.TempDir(), "deep.trace")
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(context.Background(), path, Options{})
		if fits && err != nil || !fits && (err == nil || !strings.HasPrefix(err.Error(), path+": the names of the call paths are longer than")) {
			t.Errorf("a recursion of %d calls: %v", depth, err)
		}
	}
}
