package record

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

const (
	filterLibrary = `
#include <unistd.h>
void filter(int us) { usleep(us); }
`
	filterUser = `
#include <unistd.h>
void filter(int us);
int main(int argc, char **argv) { filter(argc); usleep(1); return 0; }
`
)

// A function of a library of the user's that ends in a call shows by the call that names it, through a stub or not; one
// of the system's libraries does not.
func TestFunctionsWithoutFrameInLibrary(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("stubs are decoded on amd64 only")
	}
	library := compiled(t, filterLibrary, "filter.c", "-shared", "-fPIC")
	for _, flag := range []string{"-fplt", "-fno-plt", "-no-pie"} {
		program := compiled(t, filterUser, "user.c", flag, library)
		res := &resolver{symbols: newSymbolTable(""), regions: newRegionTable()}
		const base, space = 1 << 32, 1 << 24
		for i, path := range []string{program, library} {
			low := uint64(base + i*space)
			res.maps = append(res.maps, mapping{low: low, high: low + space, path: path})
		}
		info, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		var named []string
		for at := uint64(base) + 8; at < base+uint64(info.Size()); at++ {
			if f, ok := res.calledFrom(at); ok && !slices.Contains(named, f.name) {
				named = append(named, f.name)
			}
		}
		if !slices.Contains(named, "filter") || slices.Contains(named, "usleep") {
			t.Errorf("%s: the calls name %q, want filter and not usleep", flag, named)
		}
	}
}

// Call paths have the functions that the user wrote, once.
func TestCallPathShowsTheUsersFunctions(t *testing.T) {
	res := &resolver{regions: newRegionTable()}
	path := func(list ...function) (names []string) {
		stack := uint32(0)
		for _, f := range list {
			stack = res.call(stack, f)
		}
		for ; stack != 0; stack = res.regions.stacks[stack].Parent {
			names = append(names, res.regions.regions[res.regions.stacks[stack].Region].Name)
		}
		slices.Reverse(names)
		return names
	}
	for _, c := range []struct {
		what string
		list []function
		want []string
	}{
		{"C++ library", []function{{name: "main"}, {name: "std::sort<int*>"}, {name: "std::__introsort_loop<int*>"}, {name: "less"}},
			[]string{"main", "less"}},
		{"part of a function", []function{{name: "main"}, {name: "solve"}, {name: "solve", part: true}}, []string{"main", "solve"}},
		{"recursion", []function{{name: "main"}, {name: "solve"}, {name: "solve"}}, []string{"main", "solve", "solve"}},
		{"Fortran", []function{{name: "main"}, {name: "heat", main: true}, {name: "step"}}, []string{"heat", "step"}},
	} {
		if got := path(c.list...); !slices.Equal(got, c.want) {
			t.Errorf("%s: call path %q, want %q", c.what, got, c.want)
		}
	}
}
