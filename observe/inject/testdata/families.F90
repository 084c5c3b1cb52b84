! Calls of Fortran programs by three bindings: mpif.h, the module mpi, the module mpi_f08 (F08). Each rank prints numbers made of
! what it received: the same without and with injection.
program families
#if defined(F08)
  use mpi_f08
  implicit none
  type(MPI_Request) :: r(4), p(2)
  type(MPI_Status) :: status, several(4)
  type(MPI_Comm) :: half, twin, line
  type(MPI_Datatype) :: types(8), both(2), column
  type(MPI_Op) :: op
  type(MPI_Message) :: message
#else
#if defined(MODULE)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: r(4), p(2), status(MPI_STATUS_SIZE), several(MPI_STATUS_SIZE, 4), half, twin, types(8), column, op, message
  integer :: line, both(2)
#endif
  integer :: me, ranks, next, before, ierr, i, which, n, found, list(4), counts(8), places(8), zeros(8)
  integer :: data(12000), got(12000), back(96000), small(4)
  integer(8) :: sum
  integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
  logical :: flag
  external :: join

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(me + 1, ranks)
  before = mod(me + ranks - 1, ranks)
  sum = 1
  got = 0
  back = 0
  do i = 1, size(data)
    data(i) = me * 1000 + i
  end do

  ! messages
  call MPI_Sendrecv(data, 4, MPI_INTEGER, next, 1, got, 8, MPI_INTEGER, before, 1, MPI_COMM_WORLD, status, ierr)
  call add_status()
  call add(got, 4)
  call MPI_Sendrecv_replace(got, 12000, MPI_INTEGER, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call add(got, 12000)
  do i = 1, 3
    got = 0
    call MPI_Irecv(got, 12000, MPI_INTEGER, before, 3, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(got(9001), 3000, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(data, 9000, MPI_INTEGER, next, 3, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Issend(data, 5, MPI_INTEGER, next, 4, MPI_COMM_WORLD, r(4), ierr)
    if (i == 1) call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
    if (i == 2) call MPI_Waitall(4, r, several, ierr)
    if (i == 3) then
      do n = 1, 4
        call MPI_Waitany(4, r, which, status, ierr)
        sum = sum + which
      end do
    end if
    call add(got, 9005)
  end do
  do i = 1, 2
    call MPI_Irecv(got, 10, MPI_INTEGER, before, 5, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Isend(data, 10, MPI_INTEGER, next, 5, MPI_COMM_WORLD, r(2), ierr)
    if (i == 1) then
      flag = .false.
      do while (.not. flag)
        call MPI_Test(r(1), flag, status, ierr)
      end do
      call add_status()
      call MPI_Wait(r(2), MPI_STATUS_IGNORE, ierr)
    else
      n = 0
      do while (n < 2)
        call MPI_Testsome(2, r, found, list, several, ierr)
        n = n + found
        do which = 1, found
          sum = sum + list(which)
        end do
      end do
    end if
    call add(got, 10)
  end do
  call MPI_Isend(data, 7, MPI_INTEGER, next, 6, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Probe(before, 6, MPI_COMM_WORLD, status, ierr)
  call add_status()
  call MPI_Mprobe(before, 6, MPI_COMM_WORLD, message, status, ierr)
  call MPI_Mrecv(got, 7, MPI_INTEGER, message, status, ierr)
  call add_status()
  call add(got, 7)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Send_init(data, 20, MPI_INTEGER, next, 7, MPI_COMM_WORLD, p(1), ierr)
  call MPI_Recv_init(got, 20, MPI_INTEGER, before, 7, MPI_COMM_WORLD, p(2), ierr)
  do i = 1, 3
    if (i == 1) then
      call MPI_Startall(2, p, ierr)
    else
      call MPI_Start(p(2), ierr)
      call MPI_Start(p(1), ierr)
    end if
    call MPI_Waitall(2, p, several, ierr)
    call add(got, 20)
  end do
  call MPI_Request_free(p(1), ierr)
  call MPI_Request_free(p(2), ierr)
  call MPI_Type_vector(10, 2, 5, MPI_INTEGER, column, ierr)
  call MPI_Type_commit(column, ierr)
  got = 0
  call MPI_Sendrecv(data, 1, column, next, 8, got, 1, column, before, 8, MPI_COMM_WORLD, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  sum = sum + n
  call add(got, 50)
  call MPI_Type_free(column, ierr)

  ! collectives
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -me, half, ierr)
  call MPI_Comm_dup(half, twin, ierr)
  do i = 1, 2
    got = data
    call MPI_Bcast(got, 500, MPI_INTEGER, ranks - 1, twin, ierr)
    call add(got, 500)
    call MPI_Allreduce(data, got, 500, MPI_INTEGER, MPI_SUM, twin, ierr)
    call add(got, 500)
    call MPI_Allreduce(MPI_IN_PLACE, got, 500, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call add(got, 500)
    call MPI_Iallreduce(MPI_IN_PLACE, got, 500, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Wait(r(1), status, ierr)
    call add(got, 500)
    got = 0
    call MPI_Reduce(data, got, 100, MPI_INTEGER, MPI_SUM, 0, half, ierr)
    call add(got, 100)
    back = 0
    call MPI_Gather(data, 100, MPI_INTEGER, back, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call add(back, 100 * ranks)
    call MPI_Scatter(back, 100, MPI_INTEGER, got, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call add(got, 100)
    call MPI_Allgather(data, 10, MPI_INTEGER, back, 10, MPI_INTEGER, half, ierr)
    call add(back, 10 * ranks)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, back, 10, MPI_INTEGER, half, ierr)
    call add(back, 10 * ranks)
    do n = 1, ranks
      counts(n) = n + 2
      places(n) = 10 * (n - 1)
      zeros(n) = 40 * (n - 1)
      types(n) = MPI_INTEGER
    end do
    back = 0
    call MPI_Allgatherv(data, counts(me + 1), MPI_INTEGER, back, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call add(back, 10 * ranks)
    call MPI_Alltoall(data, 10, MPI_INTEGER, got, 10, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call add(got, 10 * ranks)
    counts = 3
    got = 0
    call MPI_Alltoallw(data, counts, zeros, types, got, counts, zeros, types, MPI_COMM_WORLD, ierr)
    call add(got, 10 * ranks)
    got = 0
    bytes = [0, 40]
    both = MPI_INTEGER
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., line, ierr)
#if !defined(F08)
    ! mpi_f08 of MPICH 4.0.2 wants a directed graph here
    call MPI_Neighbor_alltoallw(data, counts, bytes, both, got, counts, bytes, both, line, ierr)
    call add(got, 20)
#endif
    call MPI_Neighbor_allgather(data, 10, MPI_INTEGER, got, 10, MPI_INTEGER, line, ierr)
    call add(got, 20)
    call MPI_Comm_free(line, ierr)
    got = 0
    call MPI_Scan(data, got, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call add(got, 10)
    call MPI_Reduce_scatter(data, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call add(got, 3)
  end do
#if !defined(F08)
  call MPI_Op_create(join, .false., op, ierr)
  call MPI_Allreduce(data, got, 5, MPI_INTEGER, op, half, ierr)
  call add(got, 5)
  call MPI_Op_free(op, ierr)
#endif
  call MPI_Ibarrier(twin, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_free(twin, ierr)
  call MPI_Comm_free(half, ierr)
  print '(i0,1x,i0)', me, sum
  call MPI_Finalize(ierr)

contains

  subroutine add(values, many)
    integer, intent(in) :: values(*), many
    integer :: k
    do k = 1, many
      sum = mod(sum * 31 + values(k), 1000000007_8)
    end do
  end subroutine

  subroutine add_status()
    integer :: many
    call MPI_Get_count(status, MPI_INTEGER, many, ierr)
#if defined(F08)
    small = [many, status%MPI_SOURCE, status%MPI_TAG, 0]
#else
    small = [many, status(MPI_SOURCE), status(MPI_TAG), 0]
#endif
    call add(small, 4)
  end subroutine
end program

subroutine join(left, right, many, type)
  implicit none
  integer :: many, type, left(many), right(many), k
  do k = 1, many
    right(k) = mod(left(k) * 3 + right(k), 10007)
  end do
end subroutine
