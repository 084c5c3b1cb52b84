"""Functions with names call MPI through ctypes, which releases the GIL. The MPI library is the one that is loaded already."""
import ctypes
import time

mpi = ctypes.CDLL(None)
try:
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
except ValueError:
    world = ctypes.c_int(0x44000000)


class Solver:
    def wait(self):
        mpi.MPI_Barrier(world)

    def smooth(self, seconds):
        until, x = time.perf_counter() + seconds, 1.0
        while time.perf_counter() < until:
            x = x * 1.0000001 + 1e-9
        return x


def steps():
    solver = Solver()
    for step in range(10):
        solver.smooth(0.02)
        yield solver


def größe(solver):
    return [solver.wait() for _ in range(2)]


def by_key(solver):
    größe(solver)
    return 0


def main():
    mpi.MPI_Init(None, None)
    for solver in steps():
        max([solver], key=by_key)  # C code calls a function of Python
    mpi.MPI_Finalize()


main()
