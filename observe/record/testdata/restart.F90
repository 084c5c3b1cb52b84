! As restart.c.
program restart
    use mpi
    implicit none
    integer, parameter :: bytes = 1048576, times = 4
    integer :: me, ierr, i, room, status(MPI_STATUS_SIZE), send(1)
    character, allocatable :: data(:), buffer(:)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    room = times * (bytes + MPI_BSEND_OVERHEAD)
    allocate (data(bytes), buffer(room))
    data = 'x'
    call MPI_Buffer_attach(buffer, room, ierr)
    call MPI_Bsend_init(data, bytes, MPI_CHARACTER, 1 - me, 0, MPI_COMM_WORLD, send(1), ierr)
    do i = 1, times
        if (mod(i, 2) == 1) then
            call MPI_Start(send(1), ierr)
        else
            call MPI_Startall(1, send, ierr)
        end if
        call MPI_Wait(send(1), status, ierr)
    end do
    do i = 1, times
        call MPI_Recv(data, bytes, MPI_CHARACTER, 1 - me, 0, MPI_COMM_WORLD, status, ierr)
    end do
    call MPI_Request_free(send(1), ierr)
    call MPI_Buffer_detach(buffer, room, ierr)
    call MPI_Finalize(ierr)
end program
