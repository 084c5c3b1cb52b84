package record

import (
	"slices"
	"strings"
	"testing"
)

const (
	sortsByLambda = `
#include <algorithm>
namespace particles {
volatile int compared;
__attribute__((noinline)) void reorder(int *v, int n) { std::sort(v, v + n, [](int a, int b) { compared++; return a > b; }); }
}
int main(int argc, char **argv) { int v[64] = {argc}; particles::reorder(v, 64); return v[0]; }
`
	parallelInline = `
#include <unistd.h>
volatile int done;
static void plane(void) { done++; usleep(1); done++; }
static void sweep(void) {
#pragma omp parallel
    plane();
}
int main(void) { sweep(); return done; }
`
)

// namesIn returns the names of all functions in the code of the symbols whose names contain a text.
func namesIn(m *module, text string) []string {
	var names []string
	for _, s := range m.symbols {
		if !strings.Contains(s.Name, text) {
			continue
		}
		for at := s.Value; at < s.Value+s.Size; at++ {
			for _, f := range m.functionsAt(at) {
				if !slices.Contains(names, f.name) {
					names = append(names, f.name)
				}
			}
		}
	}
	return names
}

// What depends on a lambda expression has no symbol that tells its namespace.
func TestNamesThatDependOnLambdas(t *testing.T) {
	m := newSymbolTable("").module(compiled(t, sortsByLambda, "sort.cpp", "-g"))
	names := namesIn(m, "reorder")
	users := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return function{name: name}.ofLanguage() })
	slices.Sort(users)
	if len(users) != 2 || users[0] != "particles::reorder" || !strings.HasSuffix(users[1], "::operator()") {
		t.Errorf("functions of the user = %q, want particles::reorder and the operator() of the lambda expression; all: %q", users, names)
	}
}

// The body of a parallel region stands in a function that may have no code of its own.
func TestFunctionsInBodiesOfParallelRegions(t *testing.T) {
	m := newSymbolTable("").module(compiled(t, parallelInline, "sweep.c", "-g", "-fopenmp"))
	if names := namesIn(m, "_omp_fn"); !slices.Contains(names, "plane") {
		t.Errorf("functions in the body = %q, want plane", names)
	}
}
