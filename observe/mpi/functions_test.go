package mpi

import (
	"slices"
	"testing"
)

func TestFunctions(t *testing.T) {
	list, err := Functions()
	if err != nil || len(list) < 200 {
		t.Fatalf("%d functions, %v", len(list), err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != len(list) {
		t.Errorf("%d of %d functions stand twice in the table", len(list)-n, len(list))
	}
	if _, err := parseFunctions("Send | send | 3\n"); err == nil {
		t.Error("a line with three fields was read")
	}
	i := slices.IndexFunc(list, func(f Function) bool { return f.Name == "Allgatherv" })
	params, args := list[i].withLargeCounts().CParams()
	const want = "const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const " +
		"MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm"
	if params != want || args != "sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm" {
		t.Errorf("MPI_Allgatherv_c(%s), called with (%s)", params, args)
	}
	params, args = list[i].FortranParams()
	const fortran = "void *f_sendbuf, MPI_Fint *f_sendcount, MPI_Fint *f_sendtype, void *f_recvbuf, MPI_Fint *f_recvcounts, MPI_Fint " +
		"*f_displs, MPI_Fint *f_recvtype, MPI_Fint *f_comm, MPI_Fint *ierror"
	if params != fortran || args != "f_sendbuf, f_sendcount, f_sendtype, f_recvbuf, f_recvcounts, f_displs, f_recvtype, f_comm, ierror" {
		t.Errorf("mpi_allgatherv_(%s), called with (%s)", params, args)
	}
}
