! Calls on windows and files, of two ranks, by three bindings; objects.c makes the same ones. The argument is the name of a file.
program objects
#if defined(F08)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Win) :: w, v
  type(MPI_Group) :: all, peer
  type(MPI_Request) :: r(3)
  type(MPI_File) :: f
  type(c_ptr) :: memory
#elif defined(MODULE)
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: w, v, all, peer, r(3), f
  type(c_ptr) :: memory
#else
  implicit none
  include 'mpif.h'
  integer :: w, v, all, peer, r(3), f
  integer(kind=MPI_ADDRESS_KIND) :: memory
#endif
  integer :: me, one, i, ierr
  integer, asynchronous :: a(8), b(8), c(8)
  integer(kind=MPI_ADDRESS_KIND) :: none = 0, bytes = 64, at(4) = [1, 2, 4, 0]
  integer(kind=MPI_OFFSET_KIND) :: start = 0, mine, length = 64
  logical :: flag
  character(len=500) :: name

  call get_command_argument(1, name)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  one = 1 - me
  mine = me * 8
  a = 0
  call MPI_Comm_group(MPI_COMM_WORLD, all, ierr)
  call MPI_Group_incl(all, 1, [one], peer, ierr)

  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Put(a, 4, MPI_INTEGER, one, none, 4, MPI_INTEGER, w, ierr)
  call MPI_Get(b, 2, MPI_INTEGER, one, at(3), 2, MPI_INTEGER, w, ierr)
  call MPI_Put(a, 4, MPI_INTEGER, MPI_PROC_NULL, none, 4, MPI_INTEGER, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Accumulate(a, 3, MPI_INTEGER, one, none, 3, MPI_INTEGER, MPI_SUM, w, ierr)
  call MPI_Win_fence(0, w, ierr)

  bytes = 32
  call MPI_Win_create(c, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, v, ierr)
  bytes = 64
  call MPI_Win_lock(MPI_LOCK_SHARED, one, 0, v, ierr)
  call MPI_Rput(a, 1, MPI_INTEGER, one, none, 1, MPI_INTEGER, v, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Win_flush(one, v, ierr)
  call MPI_Fetch_and_op(a, b, MPI_INTEGER, one, at(1), MPI_SUM, v, ierr)
  call MPI_Compare_and_swap(a, b, b(2), MPI_INTEGER, one, at(2), v, ierr)
  call MPI_Win_unlock(one, v, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, v, ierr)
  call MPI_Win_unlock(1, v, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock_all(0, v, ierr)
  call MPI_Get_accumulate(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, one, none, 2, MPI_INTEGER, MPI_NO_OP, v, ierr)
  call MPI_Win_flush_all(v, ierr)
  call MPI_Win_flush_local(one, v, ierr)
  call MPI_Win_flush_local_all(v, ierr)
  call MPI_Rget(b, 2, MPI_INTEGER, one, none, 2, MPI_INTEGER, v, r(1), ierr)
  call MPI_Raccumulate(a, 1, MPI_INTEGER, one, none, 1, MPI_INTEGER, MPI_SUM, v, r(2), ierr)
  call MPI_Rget_accumulate(a, 1, MPI_INTEGER, b(3), 1, MPI_INTEGER, one, none, 1, MPI_INTEGER, MPI_SUM, v, r(3), ierr)
  call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, ierr)
  call MPI_Win_unlock_all(v, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  if (me == 0) then
    call MPI_Win_post(peer, 0, v, ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(v, flag, ierr)
    end do
    call MPI_Win_post(peer, 0, v, ierr)
    call MPI_Win_wait(v, ierr)
  else
    do i = 1, 2
      call MPI_Win_start(peer, 0, v, ierr)
      call MPI_Put(a, 1, MPI_INTEGER, one, none, 1, MPI_INTEGER, v, ierr)
      call MPI_Win_complete(v, ierr)
    end do
  end if
  call MPI_Win_free(v, ierr)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, v, ierr)
  call MPI_Win_free(v, ierr)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, v, ierr)
  call MPI_Win_free(v, ierr)
  call MPI_Win_free(w, ierr)
  call MPI_Group_free(peer, ierr)
  call MPI_Group_free(all, ierr)

  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
  call MPI_File_set_view(f, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_write_at_all(f, mine, a, 8, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_at_all_begin(f, mine, a, 4, MPI_INTEGER, ierr)
  call MPI_File_write_at_all_end(f, a, MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_at_all(f, mine, a, 2, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_seek_shared(f, start, MPI_SEEK_SET, ierr)
  call MPI_File_write_ordered(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_set_size(f, length, ierr)
  call MPI_File_sync(f, ierr)
  call MPI_File_read_at(f, start, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_seek(f, start, MPI_SEEK_SET, ierr)
  call MPI_File_read_all(f, b, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_close(f, ierr)
  call MPI_Finalize(ierr)
end program
