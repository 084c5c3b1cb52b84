"""Two ranks exchange values in functions that have names; the sums are those of the ranks."""
import time

from mpi4py import MPI


class Solver:
    def __init__(self, comm):
        self.comm = comm

    def exchange(self, step):
        return self.comm.allreduce(step + self.comm.rank)

    def smooth(self, seconds):
        until, x = time.perf_counter() + seconds, 1.0
        while time.perf_counter() < until:
            x = x * 1.0000001 + 1e-9
        return x


def größe(values):
    return max(values, key=lambda v: len(str(v)))


def main():
    solver = Solver(MPI.COMM_WORLD)
    total = 0
    for step in range(20):
        solver.smooth(0.02)
        total += solver.exchange(step)
    größe([MPI.COMM_WORLD.sendrecv(total, 1 - solver.comm.rank, source=1 - solver.comm.rank)])
    MPI.COMM_WORLD.Barrier()
    if solver.comm.rank == 0:
        print("total", total)


main()
