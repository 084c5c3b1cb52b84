package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"slackline/internal/needed"
)

const tailCalls = `
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) static void fixup(int us) { sink++; usleep(us); }
__attribute__((noinline)) void outer(int us) { fixup(us); usleep(1); sink++; }
int main(int argc, char **argv) { outer(argc); return sink; }
`

// compiled compiles a program with gcc and returns its file; the suffix of the name tells the language.
func compiled(t *testing.T, source, name string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, name), filepath.Join(dir, name+".out")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	gcc := needed.Tool(t, "gcc")
	if out, err := exec.Command(gcc, append([]string{"-O2", file, "-o", program}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// A function that ends in a call leaves no frame; the call that names it does. A call to another library names nothing.
func TestFunctionsWithoutFrame(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("calls are decoded on amd64 and arm64 only")
	}
	m := newSymbolTable("").module(compiled(t, tailCalls, "tail.c"))
	var named []string
	for _, s := range m.symbols {
		if s.Name != "outer" {
			continue
		}
		for at := s.Value + 4; at <= s.Value+s.Size; at++ {
			if f, ok := m.calledAt(at); ok {
				named = append(named, f.name)
			}
		}
	}
	if len(named) != 1 || named[0] != "fixup" {
		t.Errorf("the calls of outer name %q, want only fixup", named)
	}
}
