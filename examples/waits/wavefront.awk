# A program with the structure of Sweep3D as a trace: wavefronts over a grid of ranks, from its corners, with blocking
# receives and sends. In some iterations "fixup" corrections are needed, which take long on the outer ranks of the grid,
# less on the inner ones, with a transition in between.
#
#   awk -f wavefront.awk > wavefront.trace
#   slackline waits wavefront.trace --machine chic --grid 16x16
#
# Only the order of calls and the times of computation matter: MPI calls take no time, and the simulation on a machine
# determines when they happen. -v sets n (the side of the grid), iterations, octants (1: one sweep, from rank 0),
# and blocks (of planes, in a pipeline); fixups are needed in 5 of 12 iterations.
function noise(i) { # a fixed number from 0 to 99 for each i
	return (i * 7919 + int(i / 7) * 104729 + 13) % 100
}
function call(name, time) {
	if (time > 0) {
		print now ".." now + time, name
		now += time
	}
}
function mpi(name, record) {
	print now ".." now, name ": " record
}
function depth(x, y,   d) { # distance from the border
	d = x
	if (y < d) d = y
	if (n - 1 - x < d) d = n - 1 - x
	if (n - 1 - y < d) d = n - 1 - y
	return d
}
function fixup(x, y,   d) { # outer ranks 60 us, inner ones 20 us, 10 us less per rank in the transition
	d = depth(x, y) - (outer - 1)
	return d <= 0 ? 60 : d >= 4 ? 20 : 60 - 10 * d
}
function sweep(x, y, octant, iteration,   dx, dy, b, rank) {
	dx = octant < 2 || octant >= 6 ? 1 : -1 # two octants from each corner, one corner after the other
	dy = octant < 4 ? 1 : -1
	rank = x * n + y
	print now, "sweep {"
	for (b = 0; b < blocks; b++) {
		if (x - dx >= 0 && x - dx < n) mpi("MPI_Recv", "recv from " rank - dx * n " size 4KiB tag " octant)
		if (y - dy >= 0 && y - dy < n) mpi("MPI_Recv", "recv from " rank - dy " size 4KiB tag " octant)
		call("octant", 100 + noise(rank + 31 * b + 17 * octant + 7 * iteration) / 20)
		if (needed(iteration)) call("fixup", fixup(x, y))
		if (x + dx >= 0 && x + dx < n) mpi("MPI_Send", "send to " rank + dx * n " size 4KiB tag " octant)
		if (y + dy >= 0 && y + dy < n) mpi("MPI_Send", "send to " rank + dy " size 4KiB tag " octant)
	}
	print "}", now
}
function needed(iteration) {
	return iteration * 5 % 12 < 5
}
BEGIN {
	if (!n) n = 16
	if (!iterations) iterations = 2
	if (!octants) octants = 8
	if (!blocks) blocks = 16
	outer = int(n / 5)
	print "slackline trace 1\nunit us"
	print "comm world 0-" n * n - 1
	print "cart world", n, n
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++) {
			now = 0
			print "rank", x * n + y
			print "0 main {"
			for (i = 0; i < iterations; i++) {
				for (o = 0; o < octants; o++) sweep(x, y, o, i)
				mpi("MPI_Allreduce", "allreduce sent 8 received 8")
			}
			print "}", now
		}
}
