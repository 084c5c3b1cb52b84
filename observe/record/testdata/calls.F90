! The same calls by three bindings: mpif.h, the module mpi, the module mpi_f08 (F08).
program calls
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: r(2), p
  type(MPI_Status) :: status, both(2)
  type(MPI_Comm) :: half, grid
#elif defined(MODULE)
  use mpi
  implicit none
  integer :: r(2), p, status(MPI_STATUS_SIZE), both(MPI_STATUS_SIZE, 2), half, grid
#else
  implicit none
  include 'mpif.h'
  integer :: r(2), p, status(MPI_STATUS_SIZE), both(MPI_STATUS_SIZE, 2), half, grid
#endif
  integer :: me, ranks, next, before, ierr, i, which, n, list(2), data(8), got(8), back(64)
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(me + 1, ranks)
  before = mod(me + ranks - 1, ranks)
  data = me
  call MPI_Sendrecv(data, 4, MPI_INTEGER, next, 1, got, 4, MPI_INTEGER, before, 1, MPI_COMM_WORLD, status, ierr)
  if (mod(me, 2) == 0) then
    call MPI_Send(data, 8, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 8, MPI_INTEGER, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  else
    call MPI_Recv(got, 8, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, status, ierr)
    call MPI_Send(data, 8, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierr)
  end if
  do i = 1, 3
    call MPI_Irecv(got, 8, MPI_INTEGER, before, 3, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Isend(data, 8, MPI_INTEGER, next, 3, MPI_COMM_WORLD, r(2), ierr)
    if (i == 1) call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
    if (i == 2) call MPI_Waitall(2, r, both, ierr)
    if (i == 3) then
      call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
      call MPI_Wait(r(2), status, ierr)
    end if
  end do
  call MPI_Irecv(got, 8, MPI_INTEGER, before, 4, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Isend(data, 8, MPI_INTEGER, next, 4, MPI_COMM_WORLD, r(2), ierr)
  call MPI_Waitany(2, r, which, status, ierr)
  call MPI_Waitany(2, r, which, MPI_STATUS_IGNORE, ierr)
  call MPI_Irecv(got, 8, MPI_INTEGER, before, 5, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Isend(data, 8, MPI_INTEGER, next, 5, MPI_COMM_WORLD, r(2), ierr)
  n = 2
  do while (n > 0)
    call MPI_Waitsome(2, r, i, list, MPI_STATUSES_IGNORE, ierr)
    n = n - i
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Isend(data, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, p, ierr)
  call MPI_Probe(before, 6, MPI_COMM_WORLD, status, ierr)
  call MPI_Recv(got, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, status, ierr)
  call MPI_Wait(p, status, ierr)
  call MPI_Send_init(data, 8, MPI_INTEGER, next, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Recv_init(got, 8, MPI_INTEGER, before, 7, MPI_COMM_WORLD, r(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, r, ierr)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Request_free(r(1), ierr)
  call MPI_Request_free(r(2), ierr)
  call MPI_Bcast(data, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(data, got, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, got, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(data, got, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call MPI_Gather(data, 1, MPI_INTEGER, back, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Alltoall(data, 1, MPI_INTEGER, back, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Ibarrier(MPI_COMM_WORLD, p, ierr)
  call MPI_Wait(p, MPI_STATUS_IGNORE, ierr)
  call MPI_Iallreduce(data, got, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, p, ierr)
  call MPI_Wait(p, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, half, ierr)
  call MPI_Barrier(half, ierr)
  call MPI_Comm_free(half, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., grid, ierr)
  call MPI_Barrier(grid, ierr)
  call MPI_Comm_free(grid, ierr)
  flag = .false.
  call MPI_Irecv(got, 8, MPI_INTEGER, before, 9, MPI_COMM_WORLD, p, ierr)
  call MPI_Send(data, 8, MPI_INTEGER, next, 9, MPI_COMM_WORLD, ierr)
  do while (.not. flag)
    call MPI_Test(p, flag, status, ierr)
  end do
  call MPI_Pcontrol(2)
  call MPI_Pcontrol(-2)
  call MPI_Finalize(ierr)
  if (me == 0) print *, got(1)
end program calls
