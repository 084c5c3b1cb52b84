! Every call that is wrapped, by three bindings (INCLUDED: mpif.h, MODULE: mpi, F08: mpi_f08), with two ranks. Calls are counted by their
! names, and what they give is part of a digest. The argument is the name of a file, to which the counts go.
#define X(f) call counted('f'); call f
#if defined(F08)
#define BUFFER given
#else
#define BUFFER attached
#endif
program conformance
#if defined(F08)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Request) :: r, p(4), q(2)
  type(MPI_Comm) :: c, d
  type(MPI_Status) :: status
  type(MPI_Group) :: world, g, h, u
  type(MPI_Datatype) :: types(2), one_type(1)
  type(MPI_Message) :: message
  type(MPI_Win) :: w, v
  type(MPI_File) :: f
  type(c_ptr) :: given
#elif defined(MODULE)
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: r, p(4), q(2), c, d, world, g, h, u, types(2), one_type(1), message, w, v, f, status(MPI_STATUS_SIZE)
  type(c_ptr) :: given
#else
  implicit none
  include 'mpif.h'
  integer :: r, p(4), q(2), c, d, world, g, h, u, types(2), one_type(1), message, w, v, f, status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: given
#endif
  integer, parameter :: most = 400
  character(len=40) :: names(most)
  integer :: numbers(most) = 0, known = 0
  integer :: me, other, ierr, i, k, level, index, found, indices(4), range(3, 1), size_of, attached(2048)
  integer, target, save :: a(64), b(64), memory(16)
  integer :: one(2) = 1, at(2), bytes(2), single(1) = 1, zero(1) = 0, peer(1)
  integer(kind=MPI_ADDRESS_KIND) :: length = 64, disp(0:6) = [0, 1, 2, 3, 4, 5, 6], far(1) = 0
  integer(kind=MPI_OFFSET_KIND) :: start = 0, offset, large = 4096
  integer(8) :: digest = 17
  logical :: flag
  character(len=500) :: path

  call get_command_argument(1, path)
  X(MPI_Init_thread)(MPI_THREAD_SINGLE, level, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  other = 1 - me
  peer = other
  types = MPI_INTEGER
  one_type = MPI_INTEGER
  at = [0, 1]
  bytes = [0, 4]
  do i = 1, size(a)
    a(i) = 100 * me + i
  end do
  b = 0
  call messages()
  call requests()
  call collectives()
  call later()
  call communicators()
  call neighbors()
  call windows()
  call files()
#if defined(MPI4)
  call persistent()
  call persistent_neighbors()
  call partitioned()
#endif
  X(MPI_Finalize)(ierr)
  print '(a, i0, a, i0)', 'rank ', me, ' digest ', digest
  write (path, '(a, a, i0)') trim(path), '.', me
  open (unit=9, file=path)
  do i = 1, known
    write (9, '(a, a, i0)') trim(names(i)), ' ', numbers(i)
  end do
  close (9)

contains

  subroutine counted(name)
    character(len=*), intent(in) :: name
    integer :: j
    do j = 1, known
      if (names(j) == name) exit
    end do
    if (j > known) then
      known = j
      names(j) = name
    end if
    numbers(j) = numbers(j) + 1
  end subroutine

  ! keep adds what was received to the digest.
  subroutine keep()
    integer :: j
    do j = 1, size(b)
      digest = mod(digest * 31 + b(j), 1000000007_8)
    end do
    b = 0
  end subroutine

  subroutine wait_for()
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    call keep()
  end subroutine

  subroutine post(tag)
    integer, intent(in) :: tag
    X(MPI_Irecv)(b, 8, MPI_INTEGER, other, tag, MPI_COMM_WORLD, r, ierr)
  end subroutine

  subroutine messages()
    size_of = 4 * size(attached)
    X(MPI_Buffer_attach)(attached, size_of, ierr)
    call post(1)
    X(MPI_Send)(a, 2, MPI_INTEGER, other, 1, MPI_COMM_WORLD, ierr)
    call wait_for()
    call post(2)
    X(MPI_Bsend)(a, 3, MPI_INTEGER, other, 2, MPI_COMM_WORLD, ierr)
    call wait_for()
    call post(3)
    X(MPI_Ssend)(a, 4, MPI_INTEGER, other, 3, MPI_COMM_WORLD, ierr)
    call wait_for()
    call post(4)
    X(MPI_Barrier)(MPI_COMM_WORLD, ierr)
    X(MPI_Rsend)(a, 5, MPI_INTEGER, other, 4, MPI_COMM_WORLD, ierr)
    call wait_for()
    X(MPI_Isend)(a, 1, MPI_INTEGER, other, 5, MPI_COMM_WORLD, p(1), ierr)
    X(MPI_Issend)(a, 2, MPI_INTEGER, other, 6, MPI_COMM_WORLD, p(2), ierr)
    X(MPI_Ibsend)(a, 3, MPI_INTEGER, other, 7, MPI_COMM_WORLD, p(3), ierr)
    do k = 5, 7
      X(MPI_Recv)(b, 8, MPI_INTEGER, other, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call keep()
    end do
    X(MPI_Waitall)(3, p, MPI_STATUSES_IGNORE, ierr)
    call post(8)
    X(MPI_Barrier)(MPI_COMM_WORLD, ierr)
    X(MPI_Irsend)(a, 1, MPI_INTEGER, other, 8, MPI_COMM_WORLD, p(1), ierr)
    call wait_for()
    X(MPI_Wait)(p(1), MPI_STATUS_IGNORE, ierr)
    X(MPI_Buffer_detach)(BUFFER, size_of, ierr)
    X(MPI_Sendrecv)(a, 2, MPI_INTEGER, other, 9, b, 2, MPI_INTEGER, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call keep()
    b(1:2) = a(1:2)
    X(MPI_Sendrecv_replace)(b, 2, MPI_INTEGER, other, 10, other, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call keep()
    do k = 11, 14
      X(MPI_Isend)(a, k - 10, MPI_INTEGER, other, k, MPI_COMM_WORLD, p(k - 10), ierr)
    end do
    X(MPI_Probe)(other, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    X(MPI_Recv)(b, 8, MPI_INTEGER, other, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    flag = .false.
    do while (.not. flag)
      X(MPI_Iprobe)(other, 12, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    end do
    X(MPI_Recv)(b(10), 8, MPI_INTEGER, other, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    X(MPI_Mprobe)(other, 13, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierr)
    X(MPI_Mrecv)(b(20), 8, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
    flag = .false.
    do while (.not. flag)
      X(MPI_Improbe)(other, 14, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierr)
    end do
    X(MPI_Imrecv)(b(30), 8, MPI_INTEGER, message, r, ierr)
    call wait_for()
    X(MPI_Waitall)(4, p, MPI_STATUSES_IGNORE, ierr)
  end subroutine

  subroutine exchange()
    X(MPI_Irecv)(b, 4, MPI_INTEGER, other, 20, MPI_COMM_WORLD, p(1), ierr)
    X(MPI_Isend)(a, 4, MPI_INTEGER, other, 20, MPI_COMM_WORLD, p(2), ierr)
  end subroutine

  subroutine cycle_of(kind)
    integer, intent(in) :: kind
    X(MPI_Recv_init)(b, 8, MPI_INTEGER, other, 30 + kind, MPI_COMM_WORLD, q(1), ierr)
    X(MPI_Start)(q(1), ierr)
    X(MPI_Barrier)(MPI_COMM_WORLD, ierr)
    X(MPI_Startall)(1, q(2:2), ierr)
    X(MPI_Waitall)(2, q, MPI_STATUSES_IGNORE, ierr)
    call keep()
    do k = 1, 2
      X(MPI_Request_free)(q(k), ierr)
    end do
  end subroutine

  subroutine requests()
    call exchange()
    do k = 1, 2
      X(MPI_Waitany)(2, p, index, MPI_STATUS_IGNORE, ierr)
    end do
    call keep()
    call exchange()
    i = 0
    do while (i < 2)
      X(MPI_Waitsome)(2, p, found, indices, MPI_STATUSES_IGNORE, ierr)
      i = i + found
    end do
    call keep()
    call exchange()
    do k = 1, 2
      flag = .false.
      do while (.not. flag)
        X(MPI_Test)(p(k), flag, MPI_STATUS_IGNORE, ierr)
      end do
    end do
    call keep()
    call exchange()
    flag = .false.
    do while (.not. flag)
      X(MPI_Testall)(2, p, flag, MPI_STATUSES_IGNORE, ierr)
    end do
    call keep()
    call exchange()
    i = 0
    do while (i < 2)
      X(MPI_Testany)(2, p, index, flag, MPI_STATUS_IGNORE, ierr)
      if (flag) i = i + 1
    end do
    call keep()
    call exchange()
    i = 0
    do while (i < 2)
      X(MPI_Testsome)(2, p, found, indices, MPI_STATUSES_IGNORE, ierr)
      i = i + found
    end do
    call keep()
    call exchange()
    flag = .false.
    do while (.not. flag)
      X(MPI_Request_get_status)(p(1), flag, status, ierr)
    end do
    X(MPI_Waitall)(2, p, MPI_STATUSES_IGNORE, ierr)
    call keep()
    X(MPI_Irecv)(b, 4, MPI_INTEGER, other, 99, MPI_COMM_WORLD, r, ierr)
    X(MPI_Cancel)(r, ierr)
    call wait_for()
    X(MPI_Buffer_attach)(attached, size_of, ierr)
    X(MPI_Send_init)(a, 1, MPI_INTEGER, other, 31, MPI_COMM_WORLD, q(2), ierr)
    call cycle_of(1)
    X(MPI_Bsend_init)(a, 2, MPI_INTEGER, other, 32, MPI_COMM_WORLD, q(2), ierr)
    call cycle_of(2)
    X(MPI_Rsend_init)(a, 3, MPI_INTEGER, other, 33, MPI_COMM_WORLD, q(2), ierr)
    call cycle_of(3)
    X(MPI_Ssend_init)(a, 4, MPI_INTEGER, other, 34, MPI_COMM_WORLD, q(2), ierr)
    call cycle_of(4)
    X(MPI_Buffer_detach)(BUFFER, size_of, ierr)
  end subroutine

#define SUMS MPI_INTEGER, MPI_SUM
#define ALL MPI_COMM_WORLD
#define INT MPI_INTEGER

  subroutine collectives()
    b(1:2) = a(1:2)
    X(MPI_Bcast)(b, 2, INT, 0, ALL, ierr)
    call keep()
    X(MPI_Gather)(a, 1, INT, b, 1, INT, 0, ALL, ierr)
    X(MPI_Gatherv)(a, 1, INT, b(3), one, at, INT, 1, ALL, ierr)
    X(MPI_Scatter)(a, 1, INT, b(5), 1, INT, 0, ALL, ierr)
    X(MPI_Scatterv)(a, one, at, INT, b(6), 1, INT, 1, ALL, ierr)
    X(MPI_Allgather)(a, 1, INT, b(7), 1, INT, ALL, ierr)
    X(MPI_Allgatherv)(a, 1, INT, b(9), one, at, INT, ALL, ierr)
    X(MPI_Alltoall)(a, 1, INT, b(11), 1, INT, ALL, ierr)
    X(MPI_Alltoallv)(a, one, at, INT, b(13), one, at, INT, ALL, ierr)
    X(MPI_Alltoallw)(a, one, bytes, types, b(15), one, bytes, types, ALL, ierr)
    X(MPI_Reduce)(a, b(17), 2, SUMS, 0, ALL, ierr)
    X(MPI_Allreduce)(a, b(19), 2, SUMS, ALL, ierr)
    X(MPI_Reduce_scatter)(a, b(21), one, SUMS, ALL, ierr)
    X(MPI_Reduce_scatter_block)(a, b(22), 1, SUMS, ALL, ierr)
    X(MPI_Scan)(a, b(23), 1, SUMS, ALL, ierr)
    X(MPI_Exscan)(a, b(24), 1, SUMS, ALL, ierr)
    if (me == 0) b(24) = 0
    call keep()
  end subroutine

  subroutine later()
    X(MPI_Ibarrier)(ALL, r, ierr)
    call wait_for()
    b(1:2) = a(1:2)
    X(MPI_Ibcast)(b, 2, INT, 0, ALL, r, ierr)
    call wait_for()
    X(MPI_Igather)(a, 1, INT, b, 1, INT, 0, ALL, r, ierr)
    call wait_for()
    X(MPI_Igatherv)(a, 1, INT, b(3), one, at, INT, 1, ALL, r, ierr)
    call wait_for()
    X(MPI_Iscatter)(a, 1, INT, b(5), 1, INT, 0, ALL, r, ierr)
    call wait_for()
    X(MPI_Iscatterv)(a, one, at, INT, b(6), 1, INT, 1, ALL, r, ierr)
    call wait_for()
    X(MPI_Iallgather)(a, 1, INT, b(7), 1, INT, ALL, r, ierr)
    call wait_for()
    X(MPI_Iallgatherv)(a, 1, INT, b(9), one, at, INT, ALL, r, ierr)
    call wait_for()
    X(MPI_Ialltoall)(a, 1, INT, b(11), 1, INT, ALL, r, ierr)
    call wait_for()
    X(MPI_Ialltoallv)(a, one, at, INT, b(13), one, at, INT, ALL, r, ierr)
    call wait_for()
    X(MPI_Ialltoallw)(a, one, bytes, types, b(15), one, bytes, types, ALL, r, ierr)
    call wait_for()
    X(MPI_Ireduce)(a, b(17), 2, SUMS, 0, ALL, r, ierr)
    call wait_for()
    X(MPI_Iallreduce)(a, b(19), 2, SUMS, ALL, r, ierr)
    call wait_for()
    X(MPI_Ireduce_scatter)(a, b(21), one, SUMS, ALL, r, ierr)
    call wait_for()
    X(MPI_Ireduce_scatter_block)(a, b(22), 1, SUMS, ALL, r, ierr)
    call wait_for()
    X(MPI_Iscan)(a, b(23), 1, SUMS, ALL, r, ierr)
    call wait_for()
    X(MPI_Iexscan)(a, b(24), 1, SUMS, ALL, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    if (me == 0) b(24) = 0
    call keep()
  end subroutine

  subroutine use_and_free()
    X(MPI_Allreduce)(a, b, 1, SUMS, c, ierr)
    call keep()
    X(MPI_Comm_free)(c, ierr)
  end subroutine

  subroutine communicators()
    X(MPI_Comm_group)(ALL, world, ierr)
    X(MPI_Group_incl)(world, 1, [me], g, ierr)
    X(MPI_Group_excl)(world, 1, [me], h, ierr)
    X(MPI_Group_union)(g, h, u, ierr)
    X(MPI_Group_free)(u, ierr)
    X(MPI_Group_intersection)(g, world, u, ierr)
    X(MPI_Group_free)(u, ierr)
    X(MPI_Group_difference)(world, g, u, ierr)
    X(MPI_Group_free)(u, ierr)
    range(:, 1) = [0, 0, 1]
    X(MPI_Group_range_incl)(world, 1, range, u, ierr)
    X(MPI_Group_free)(u, ierr)
    X(MPI_Group_range_excl)(world, 1, range, u, ierr)
    X(MPI_Group_free)(u, ierr)
    X(MPI_Comm_dup)(ALL, c, ierr)
    call use_and_free()
    X(MPI_Comm_dup_with_info)(ALL, MPI_INFO_NULL, c, ierr)
    call use_and_free()
    X(MPI_Comm_idup)(ALL, c, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    call use_and_free()
    X(MPI_Comm_split)(ALL, 0, other, c, ierr)
    call use_and_free()
    X(MPI_Comm_split_type)(ALL, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, c, ierr)
    call use_and_free()
    X(MPI_Comm_create)(ALL, world, c, ierr)
    call use_and_free()
    X(MPI_Comm_create_group)(ALL, world, 7, c, ierr)
    call use_and_free()
    X(MPI_Comm_dup)(ALL, c, ierr)
    X(MPI_Comm_disconnect)(c, ierr)
    X(MPI_Intercomm_create)(MPI_COMM_SELF, 0, ALL, other, 8, d, ierr)
    X(MPI_Comm_remote_group)(d, u, ierr)
    X(MPI_Group_free)(u, ierr)
    X(MPI_Intercomm_merge)(d, me == 1, c, ierr)
    X(MPI_Comm_free)(d, ierr)
    call use_and_free()
    X(MPI_Graph_create)(ALL, 2, [1, 2], [1, 0], .false., c, ierr)
    call use_and_free()
    X(MPI_Dist_graph_create)(ALL, 1, [me], single, peer, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., c, ierr)
    call use_and_free()
    X(MPI_Cart_create)(ALL, 1, [2], [.true.], .false., d, ierr)
    X(MPI_Cart_sub)(d, [.true.], c, ierr)
    X(MPI_Comm_free)(d, ierr)
    call use_and_free()
#if defined(MPI4)
    X(MPI_Comm_idup_with_info)(ALL, MPI_INFO_NULL, c, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    call use_and_free()
    X(MPI_Comm_create_from_group)(world, 'conformance', MPI_INFO_NULL, MPI_ERRORS_RETURN, c, ierr)
    call use_and_free()
#endif
    X(MPI_Group_free)(g, ierr)
    X(MPI_Group_free)(world, ierr)
  end subroutine

  subroutine neighbors()
    X(MPI_Dist_graph_create_adjacent)(ALL, 1, peer, MPI_UNWEIGHTED, 1, peer, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., c, ierr)
    X(MPI_Neighbor_allgather)(a, 1, INT, b, 1, INT, c, ierr)
    X(MPI_Neighbor_allgatherv)(a, 1, INT, b(2), single, zero, INT, c, ierr)
    X(MPI_Neighbor_alltoall)(a, 1, INT, b(3), 1, INT, c, ierr)
    X(MPI_Neighbor_alltoallv)(a, single, zero, INT, b(4), single, zero, INT, c, ierr)
    X(MPI_Neighbor_alltoallw)(a, single, far, one_type, b(5), single, far, one_type, c, ierr)
    call keep()
    X(MPI_Ineighbor_allgather)(a, 1, INT, b, 1, INT, c, r, ierr)
    call wait_for()
    X(MPI_Ineighbor_allgatherv)(a, 1, INT, b(2), single, zero, INT, c, r, ierr)
    call wait_for()
    X(MPI_Ineighbor_alltoall)(a, 1, INT, b(3), 1, INT, c, r, ierr)
    call wait_for()
    X(MPI_Ineighbor_alltoallv)(a, single, zero, INT, b(4), single, zero, INT, c, r, ierr)
    call wait_for()
    X(MPI_Ineighbor_alltoallw)(a, single, far, one_type, b(5), single, far, one_type, c, r, ierr)
    call wait_for()
  end subroutine

  subroutine windows()
    memory = 0
    X(MPI_Win_create)(memory, length, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
    X(MPI_Win_fence)(0, w, ierr)
    X(MPI_Put)(a, 1, MPI_INTEGER, other, disp(0), 1, MPI_INTEGER, w, ierr)
    X(MPI_Get)(b, 1, MPI_INTEGER, other, disp(1), 1, MPI_INTEGER, w, ierr)
    X(MPI_Accumulate)(a, 1, MPI_INTEGER, other, disp(2), 1, MPI_INTEGER, MPI_SUM, w, ierr)
    X(MPI_Win_fence)(0, w, ierr)
    X(MPI_Comm_group)(MPI_COMM_WORLD, world, ierr)
    X(MPI_Group_incl)(world, 1, peer, g, ierr)
    do i = 1, 2
      X(MPI_Win_post)(g, 0, w, ierr)
      X(MPI_Win_start)(g, 0, w, ierr)
      X(MPI_Win_complete)(w, ierr)
      if (i == 1) then
        X(MPI_Win_wait)(w, ierr)
      end if
    end do
    flag = .false.
    do while (.not. flag)
      X(MPI_Win_test)(w, flag, ierr)
    end do
    X(MPI_Win_lock)(MPI_LOCK_EXCLUSIVE, other, 0, w, ierr)
    X(MPI_Get_accumulate)(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, other, disp(3), 1, MPI_INTEGER, MPI_SUM, w, ierr)
    X(MPI_Win_flush_local)(other, w, ierr)
    X(MPI_Fetch_and_op)(a, b(2), MPI_INTEGER, other, disp(4), MPI_SUM, w, ierr)
    X(MPI_Compare_and_swap)(a, a, b(3), MPI_INTEGER, other, disp(5), w, ierr)
    X(MPI_Win_flush)(other, w, ierr)
    X(MPI_Win_unlock)(other, w, ierr)
    X(MPI_Win_lock_all)(0, w, ierr)
    X(MPI_Rput)(a, 1, MPI_INTEGER, other, disp(6), 1, MPI_INTEGER, w, p(1), ierr)
    X(MPI_Rget)(b(4), 1, MPI_INTEGER, other, disp(0), 1, MPI_INTEGER, w, p(2), ierr)
    X(MPI_Raccumulate)(a, 1, MPI_INTEGER, other, disp(2), 1, MPI_INTEGER, MPI_SUM, w, p(3), ierr)
    X(MPI_Rget_accumulate)(a, 1, MPI_INTEGER, b(5), 1, MPI_INTEGER, other, disp(3), 1, MPI_INTEGER, MPI_SUM, w, p(4), ierr)
    X(MPI_Waitall)(4, p, MPI_STATUSES_IGNORE, ierr)
    X(MPI_Win_flush_local_all)(w, ierr)
    X(MPI_Win_flush_all)(w, ierr)
    X(MPI_Win_sync)(w, ierr)
    X(MPI_Win_unlock_all)(w, ierr)
    X(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, v, ierr)
    X(MPI_Win_attach)(v, memory, length, ierr)
    X(MPI_Win_detach)(v, memory, ierr)
    X(MPI_Win_free)(v, ierr)
    X(MPI_Win_allocate)(length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, given, v, ierr)
    X(MPI_Win_free)(v, ierr)
    X(MPI_Win_allocate_shared)(length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, given, v, ierr)
    X(MPI_Win_free)(v, ierr)
    X(MPI_Win_free)(w, ierr)
    call keep()
    b(1:16) = memory
    call keep()
  end subroutine

  subroutine files()
    offset = me * 4
    X(MPI_File_open)(MPI_COMM_WORLD, trim(path) // '.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
    X(MPI_File_set_size)(f, large, ierr)
    X(MPI_File_preallocate)(f, large, ierr)
    X(MPI_File_set_view)(f, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    X(MPI_File_set_atomicity)(f, .false., ierr)
    X(MPI_File_write_at)(f, offset, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_at)(f, offset, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_at_all)(f, offset, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_at_all)(f, offset, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_seek)(f, start, MPI_SEEK_SET, ierr)
    X(MPI_File_write)(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read)(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_all)(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_all)(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_seek_shared)(f, start, MPI_SEEK_SET, ierr)
    X(MPI_File_write_shared)(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_shared)(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_ordered)(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_ordered)(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_at_all_begin)(f, offset, a, 1, MPI_INTEGER, ierr)
    X(MPI_File_write_at_all_end)(f, a, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_at_all_begin)(f, offset, b, 1, MPI_INTEGER, ierr)
    X(MPI_File_read_at_all_end)(f, b, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_all_begin)(f, a, 1, MPI_INTEGER, ierr)
    X(MPI_File_write_all_end)(f, a, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_all_begin)(f, b, 1, MPI_INTEGER, ierr)
    X(MPI_File_read_all_end)(f, b, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_write_ordered_begin)(f, a, 1, MPI_INTEGER, ierr)
    X(MPI_File_write_ordered_end)(f, a, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_read_ordered_begin)(f, b, 1, MPI_INTEGER, ierr)
    X(MPI_File_read_ordered_end)(f, b, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iwrite_at)(f, offset, a, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iread_at)(f, offset, b, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iwrite_at_all)(f, offset, a, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iread_at_all)(f, offset, b, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iwrite)(f, a, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iread)(f, b, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iwrite_all)(f, a, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iread_all)(f, b, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iwrite_shared)(f, a, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_iread_shared)(f, b, 1, MPI_INTEGER, r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    X(MPI_File_sync)(f, ierr)
    X(MPI_File_close)(f, ierr)
    call keep()
    if (me == 0) then
      X(MPI_File_delete)(trim(path) // '.data', MPI_INFO_NULL, ierr)
    end if
  end subroutine

#if defined(MPI4)
  subroutine once()
    X(MPI_Start)(r, ierr)
    X(MPI_Wait)(r, MPI_STATUS_IGNORE, ierr)
    if (me == 0) b(24) = 0
    call keep()
    X(MPI_Request_free)(r, ierr)
  end subroutine

  subroutine persistent()
    b(1:2) = a(1:2)
    X(MPI_Bcast_init)(b, 2, INT, 0, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Gather_init)(a, 1, INT, b, 1, INT, 0, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Gatherv_init)(a, 1, INT, b(3), one, at, INT, 1, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Scatter_init)(a, 1, INT, b(5), 1, INT, 0, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Scatterv_init)(a, one, at, INT, b(6), 1, INT, 1, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Allgather_init)(a, 1, INT, b(7), 1, INT, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Allgatherv_init)(a, 1, INT, b(9), one, at, INT, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Alltoall_init)(a, 1, INT, b(11), 1, INT, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Alltoallv_init)(a, one, at, INT, b(13), one, at, INT, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Alltoallw_init)(a, one, bytes, types, b(15), one, bytes, types, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Reduce_init)(a, b(17), 2, SUMS, 0, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Allreduce_init)(a, b(19), 2, SUMS, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Reduce_scatter_init)(a, b(21), one, SUMS, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Reduce_scatter_block_init)(a, b(22), 1, SUMS, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Scan_init)(a, b(23), 1, SUMS, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Exscan_init)(a, b(24), 1, SUMS, ALL, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Barrier_init)(ALL, MPI_INFO_NULL, r, ierr)
    call once()
  end subroutine

  subroutine persistent_neighbors()
    X(MPI_Neighbor_allgather_init)(a, 1, INT, b, 1, INT, c, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Neighbor_allgatherv_init)(a, 1, INT, b(2), single, zero, INT, c, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Neighbor_alltoall_init)(a, 1, INT, b(3), 1, INT, c, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Neighbor_alltoallv_init)(a, single, zero, INT, b(4), single, zero, INT, c, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Neighbor_alltoallw_init)(a, single, far, one_type, b(5), single, far, one_type, c, MPI_INFO_NULL, r, ierr)
    call once()
    X(MPI_Comm_free)(c, ierr)
  end subroutine

  subroutine partitioned()
    integer(kind=MPI_COUNT_KIND) :: each = 2
#if defined(MODULE)
    integer :: arrived
#endif
    X(MPI_Isendrecv)(a, 2, INT, other, 40, b, 2, INT, other, 40, ALL, r, ierr)
    call wait_for()
    b(1:2) = a(1:2)
    X(MPI_Isendrecv_replace)(b, 2, INT, other, 41, other, 41, ALL, r, ierr)
    call wait_for()
    X(MPI_Psend_init)(a, 4, each, INT, other, 42, ALL, MPI_INFO_NULL, q(1), ierr)
    X(MPI_Precv_init)(b, 4, each, INT, other, 42, ALL, MPI_INFO_NULL, q(2), ierr)
    X(MPI_Startall)(2, q, ierr)
    X(MPI_Pready)(0, q(1), ierr)
    X(MPI_Pready_range)(1, 2, q(1), ierr)
    X(MPI_Pready_list)(1, [3], q(1), ierr)
#if defined(MODULE)
    arrived = 0 ! the module of MPICH 4.0 has an integer
    do while (arrived == 0)
      X(MPI_Parrived)(q(2), 3, arrived, ierr)
    end do
#else
    flag = .false.
    do while (.not. flag)
      X(MPI_Parrived)(q(2), 3, flag, ierr)
    end do
#endif
    X(MPI_Waitall)(2, q, MPI_STATUSES_IGNORE, ierr)
    call keep()
    do k = 1, 2
      X(MPI_Request_free)(q(k), ierr)
    end do
  end subroutine
#endif
end program
