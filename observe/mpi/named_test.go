package mpi

import "testing"

func TestNamed(t *testing.T) {
	list := []*Library{
		{Kind: OpenMPI, Version: "4.1.4", Compiler: "/usr/bin/mpicc.openmpi"},
		{Kind: MPICH, Version: "4.0.2", Compiler: "/usr/bin/mpicc.mpich"},
	}
	for wanted, i := range map[string]int{"": 0, "openmpi": 0, "MPICH": 1, "mpich 4.0": 1, "mpicc.mpich": 1, "/usr/bin/mpicc.openmpi": 0} {
		if l, err := Named(list, wanted); err != nil || l != list[i] {
			t.Errorf("%q is %v, %v", wanted, l, err)
		}
	}
	if _, err := Named(list, "mvapich"); err == nil {
		t.Error("a library that is not there was found")
	}
}
