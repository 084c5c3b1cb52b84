! Every call on windows and files, of two ranks, by three bindings. The argument is the name of a file.
program everyobject
#if defined(F08)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Win) :: w, v
  type(MPI_Group) :: all, peer
  type(MPI_Request) :: r(4)
  type(MPI_File) :: f
  type(c_ptr) :: given
#elif defined(MODULE)
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: w, v, all, peer, r(4), f
  type(c_ptr) :: given
#else
  implicit none
  include 'mpif.h'
  integer :: w, v, all, peer, r(4), f
  integer(kind=MPI_ADDRESS_KIND) :: given
#endif
  integer :: me, other, i, ierr
  integer, asynchronous :: memory(8), a(8), b(8), c(8)
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 32, d(0:6) = [0, 1, 2, 3, 4, 5, 6]
  integer(kind=MPI_OFFSET_KIND) :: start = 0, at, length = 1024
  logical :: flag
  character(len=500) :: name

  call get_command_argument(1, name)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  other = 1 - me
  at = me * 4
  a = 0
  memory = 0

  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Put(a, 1, MPI_INTEGER, other, d(0), 1, MPI_INTEGER, w, ierr)
  call MPI_Get(b, 1, MPI_INTEGER, other, d(1), 1, MPI_INTEGER, w, ierr)
  call MPI_Accumulate(a, 1, MPI_INTEGER, other, d(2), 1, MPI_INTEGER, MPI_SUM, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Comm_group(MPI_COMM_WORLD, all, ierr)
  call MPI_Group_incl(all, 1, [other], peer, ierr)
  do i = 1, 2
    call MPI_Win_post(peer, 0, w, ierr)
    call MPI_Win_start(peer, 0, w, ierr)
    call MPI_Win_complete(w, ierr)
    if (i == 1) call MPI_Win_wait(w, ierr)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Win_test(w, flag, ierr)
  end do
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, w, ierr)
  call MPI_Get_accumulate(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, other, d(3), 1, MPI_INTEGER, MPI_SUM, w, ierr)
  call MPI_Win_flush_local(other, w, ierr)
  call MPI_Fetch_and_op(a, b(2), MPI_INTEGER, other, d(4), MPI_SUM, w, ierr)
  call MPI_Compare_and_swap(a, a, b(3), MPI_INTEGER, other, d(5), w, ierr)
  call MPI_Win_flush(other, w, ierr)
  call MPI_Win_unlock(other, w, ierr)
  call MPI_Win_lock_all(0, w, ierr)
  call MPI_Rput(a, 1, MPI_INTEGER, other, d(6), 1, MPI_INTEGER, w, r(1), ierr)
  call MPI_Rget(b(4), 1, MPI_INTEGER, other, d(0), 1, MPI_INTEGER, w, r(2), ierr)
  call MPI_Raccumulate(a, 1, MPI_INTEGER, other, d(2), 1, MPI_INTEGER, MPI_SUM, w, r(3), ierr)
  call MPI_Rget_accumulate(a, 1, MPI_INTEGER, c, 1, MPI_INTEGER, other, d(3), 1, MPI_INTEGER, MPI_SUM, w, r(4), ierr)
  call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
  call MPI_Win_flush_local_all(w, ierr)
  call MPI_Win_flush_all(w, ierr)
  call MPI_Win_sync(w, ierr)
  call MPI_Win_unlock_all(w, ierr)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, v, ierr)
  call MPI_Win_attach(v, memory, bytes, ierr)
  call MPI_Win_detach(v, memory, ierr)
  call MPI_Win_free(v, ierr)
  call MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, given, v, ierr)
  call MPI_Win_free(v, ierr)
  call MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, given, v, ierr)
  call MPI_Win_free(v, ierr)
  call MPI_Win_free(w, ierr)

  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
  call MPI_File_set_size(f, length, ierr)
  call MPI_File_preallocate(f, length, ierr)
  call MPI_File_set_view(f, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_set_atomicity(f, .false., ierr)
  call MPI_File_write_at(f, at, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at(f, at, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_at_all(f, at, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at_all(f, at, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_seek(f, start, MPI_SEEK_SET, ierr)
  call MPI_File_write(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_all(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_all(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_seek_shared(f, start, MPI_SEEK_SET, ierr)
  call MPI_File_write_shared(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_shared(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_ordered(f, a, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_ordered(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_at_all_begin(f, at, a, 1, MPI_INTEGER, ierr)
  call MPI_File_write_at_all_end(f, a, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_at_all_begin(f, at, b, 1, MPI_INTEGER, ierr)
  call MPI_File_read_at_all_end(f, b, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_all_begin(f, a, 1, MPI_INTEGER, ierr)
  call MPI_File_write_all_end(f, a, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_all_begin(f, b, 1, MPI_INTEGER, ierr)
  call MPI_File_read_all_end(f, b, MPI_STATUS_IGNORE, ierr)
  call MPI_File_write_ordered_begin(f, a, 1, MPI_INTEGER, ierr)
  call MPI_File_write_ordered_end(f, a, MPI_STATUS_IGNORE, ierr)
  call MPI_File_read_ordered_begin(f, b, 1, MPI_INTEGER, ierr)
  call MPI_File_read_ordered_end(f, b, MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_at(f, at, a, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iread_at(f, at, b, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_at_all(f, at, a, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iread_at_all(f, at, b, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite(f, a, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iread(f, b, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_all(f, a, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iread_all(f, b, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_shared(f, a, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_iread_shared(f, b, 1, MPI_INTEGER, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call MPI_File_sync(f, ierr)
  call MPI_File_close(f, ierr)
  if (me == 0) call MPI_File_delete(name, MPI_INFO_NULL, ierr)
  call MPI_Finalize(ierr)
end program
