! Rank 1 works longer in a named subroutine; each rank prints how long it was where, in ns of the wall clock.
module solver
  use iso_fortran_env, only: int64
  implicit none
  real(8), volatile :: sink = 0
  integer(int64) :: spent(2) = 0
contains
  subroutine kernel(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      sink = sink + i * 0.5d0
    end do
  end subroutine kernel

  subroutine relax(me)
    integer, intent(in) :: me
    integer(int64) :: t0, t1
    call system_clock(t0)
    call kernel(merge(24000000, 8000000, me == 1))
    call system_clock(t1)
    spent(1) = spent(1) + t1 - t0
  end subroutine relax

  subroutine update
    integer(int64) :: t0, t1
    call system_clock(t0)
    call kernel(8000000)
    call system_clock(t1)
    spent(2) = spent(2) + t1 - t0
  end subroutine update
end module solver

program imbalance
  use mpi
  use solver
  implicit none
  integer :: me, ierr, i
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  do i = 1, 12
    call relax(me)
    call update
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
  print '(i0,a,i0,a,i0)', me, ' relax ', spent(1), ' update ', spent(2)
end program imbalance
