! Neighborhoods, sparse and persistent collectives and messages of MPI-4 by three bindings: mpif.h, the module mpi, the module mpi_f08 (F08).
! Rank i receives from i-1 and sends to i+1.
program neighbors
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: r, s
  type(MPI_Comm) :: ring, row, twin, half, both
  type(MPI_Datatype) :: types(1), many(4)
#elif defined(MODULE)
  use mpi
  implicit none
  integer :: r, s, ring, row, twin, half, both, types(1), many(4)
#else
  implicit none
  include 'mpif.h'
  integer :: r, s, ring, row, twin, half, both, types(1), many(4)
#endif
  integer :: me, n, ierr, one(1), zero(1), from(1), to(1), a(8), b(8), out(4), in(4), displs(4), bytes(4), root, i
  integer(kind=MPI_ADDRESS_KIND) :: at(1)
  integer(kind=MPI_COUNT_KIND) :: per
  logical :: periods(1), flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  one = 1
  zero = 0
  at = 0
  a = me
  types(1) = MPI_INTEGER
  many = MPI_INTEGER
  from(1) = mod(me + n - 1, n)
  to(1) = mod(me + 1, n)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., ring, ierr)
  call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, ring, ierr)
  call MPI_Neighbor_alltoallv(a, one, zero, MPI_INTEGER, b, one, zero, MPI_INTEGER, ring, ierr)
  call MPI_Neighbor_alltoallw(a, one, at, types, b, one, at, types, ring, ierr)
  call MPI_Ineighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  if (b(1) /= from(1)) print *, 'wrong neighbor', b(1)
  one = n
  periods = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, one, periods, .false., row, ierr)
  call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, row, ierr)
  one = 1
  out = 0
  in = 0
  displs = 0
  bytes = 0
  out(to(1) + 1) = 3
  in(from(1) + 1) = 3
  call MPI_Alltoallv(a, out, displs, MPI_INTEGER, b, in, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Ialltoallw(a, out, bytes, many, b, in, bytes, many, MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_idup(MPI_COMM_WORLD, twin, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_Barrier(twin, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, half, ierr)
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 2 - 2 * (me / 2), 3, both, ierr)
  root = 0
  if (me == 0) root = MPI_ROOT
  if (me == 1) root = MPI_PROC_NULL
  call MPI_Bcast(b, 1, MPI_INTEGER, root, both, ierr)
#if defined(MPI4)
  call MPI_Alltoallv_init(a, out, displs, MPI_INTEGER, b, in, displs, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
  do i = 1, 2
    call MPI_Start(r, ierr)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_Request_free(r, ierr)
  call MPI_Neighbor_alltoallv_init(a, one, zero, MPI_INTEGER, b, one, zero, MPI_INTEGER, ring, MPI_INFO_NULL, r, ierr)
  call MPI_Start(r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_Request_free(r, ierr)
  call MPI_Isendrecv(a, 1, MPI_INTEGER, to(1), 4, b, 1, MPI_INTEGER, from(1), 4, MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  per = 2
  call MPI_Psend_init(a, 2, per, MPI_INTEGER, to(1), 5, MPI_COMM_WORLD, MPI_INFO_NULL, s, ierr)
  call MPI_Precv_init(b, 2, per, MPI_INTEGER, from(1), 5, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
  call MPI_Start(r, ierr)
  call MPI_Start(s, ierr)
  call MPI_Pready(0, s, ierr)
  call MPI_Pready_range(1, 1, s, ierr)
#if !defined(MODULE)
  call MPI_Parrived(r, 0, flag, ierr) ! MPICH 4.0 declares its flag as an integer in the module mpi
#endif
  call MPI_Wait(s, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call MPI_Request_free(s, ierr)
  call MPI_Request_free(r, ierr)
#endif
  call MPI_Finalize(ierr)
end program
