# A program with the structure of Zeus-MP/2 as a trace: a cube of ranks, each with its part of a domain, with non-blocking
# exchanges with six neighbors, four times per iteration: after the function lorentz and after each of three loops of
# hsmoc. In the middle of the domain, where the blast is, there is more work.
#
#   awk -f core.awk > core.trace
#   slackline waits core.trace --machine chic
#
# Only the order of calls and the times of computation matter: MPI calls take no time, and the simulation on a machine
# determines when they happen. -v sets n (the side of the cube), iterations, core (the radius of the core as a part of n; 0.3), and
# reduce (an allreduce in each iteration).
function call(name, time) {
	print now ".." now + time, name
	now += time
}
function mpi(name, record) {
	print now ".." now, name ": " record
}
function post(inside, partner) { # starts the exchange with a neighbor
	if (!inside) return
	requests++
	mpi("MPI_Irecv", "post " 2 * requests)
	mpi("MPI_Isend", "send to " partner " size 2KiB tag " phase " request " 2 * requests + 1)
	partners[requests] = partner
}
function exchange(name, x, y, z,   rank, i, records) {
	phase++
	rank = (x * n + y) * n + z
	requests = 0
	print now, name " {"
	post(x > 0, rank - n * n)
	post(x < n - 1, rank + n * n)
	post(y > 0, rank - n)
	post(y < n - 1, rank + n)
	post(z > 0, rank - 1)
	post(z < n - 1, rank + 1)
	for (i = 1; i <= requests; i++)
		records = records (i > 1 ? "; " : "") "recv from " partners[i] " size 2KiB tag " phase " request " 2 * i "; sent " 2 * i + 1
	mpi("MPI_Waitall", records)
	print "}", now
}
function work(x, y, z, time,   r) { # a core with 30 % more work than the outer ranks, and little between them
	r = sqrt((x - (n - 1) / 2) ^ 2 + (y - (n - 1) / 2) ^ 2 + (z - (n - 1) / 2) ^ 2)
	return int(time * (r < core * n ? 1.3 : r < (core + 0.1) * n ? 1.15 : 1))
}
function iteration(x, y, z) {
	phase = 0
	print now, "step {"
	call("lorentz", work(x, y, z, 1000))
	exchange("exchange1", x, y, z)
	print now, "hsmoc {"
	call("i-loop", work(x, y, z, 500))
	exchange("exchange2", x, y, z)
	call("j-loop", work(x, y, z, 500))
	exchange("exchange3", x, y, z)
	call("k-loop", work(x, y, z, 500))
	exchange("exchange4", x, y, z)
	print "}", now
	if (reduce) mpi("MPI_Allreduce", "allreduce sent 8 received 8")
	print "}", now
}
BEGIN {
	if (!n) n = 8
	if (!iterations) iterations = 5
	if (!core) core = 0.3
	print "slackline trace 1\nunit us"
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			for (z = 0; z < n; z++) {
				now = 0
				print "rank", (x * n + y) * n + z
				print "0 main {"
				for (i = 0; i < iterations; i++) iteration(x, y, z)
				print "}", now
			}
}
