package scaling

import _ "embed"

//go:embed expectations/mpi.yaml
var mpiExpectations []byte

// MPIExpectations returns the text of the built-in expectation file for MPI.
func MPIExpectations() []byte { return mpiExpectations }
