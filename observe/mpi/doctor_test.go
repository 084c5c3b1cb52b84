package mpi

import (
	"strings"
	"testing"
)

func TestRootRemark(t *testing.T) {
	open, other := []*Library{{Kind: MPICH}, {Kind: OpenMPI}}, []*Library{{Kind: MPICH}}
	for _, tc := range []struct {
		name string
		list []*Library
		user int
		set  string
		want string
	}{
		{"root", open, 0, "", "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		{"root with one of both", open, 0, "OMPI_ALLOW_RUN_AS_ROOT", "unless you set OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		{"root with both", open, 0, "OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", ""},
		{"root without Open MPI", other, 0, "", ""},
		{"somebody else", open, 1000, "", ""},
	} {
		getenv := func(name string) string {
			for _, set := range strings.Fields(tc.set) {
				if set == name {
					return "1"
				}
			}
			return ""
		}
		if got := rootRemark(tc.list, tc.user, getenv); (got == "") != (tc.want == "") || !strings.HasSuffix(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
