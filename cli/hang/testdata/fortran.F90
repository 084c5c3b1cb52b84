! Rank 1 sends a message with another tag than the one that rank 0 waits for.
program fortran
  use mpi
  implicit none
  integer :: rank, error, number
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  number = rank
  if (rank == 1) call MPI_Send(number, 1, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, error)
  if (rank == 0) call take()
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
contains
  subroutine take()
    call MPI_Recv(number, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine
end program
