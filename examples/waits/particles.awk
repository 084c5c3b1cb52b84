# A program with the structure of Illumination as a trace: ranks on a square exchange large messages with their four
# neighbors, direction by direction; ranks within a circle in the middle have a third more work.
#
#   awk -f particles.awk > blocking.trace                        blocking sends and receives
#   awk -v nonblocking=1 -f particles.awk > nonblocking.trace    all four directions at once
#   slackline waits blocking.trace --machine chic --model loggps --grid 16x16
#
# Only the order of calls and the times of computation matter: MPI calls take no time, and the simulation on a machine
# determines when they happen. -v sets n (the side of the square), iterations, and even (the same work on all ranks).
function on(x, y) {
	return x >= 0 && x < n && y >= 0 && y < n
}
function mpi(name, record) {
	print now ".." now, name ": " record
}
function shift(x, y, dx, dy) { # send in one direction, receive from the other
	if (on(x + dx, y + dy)) mpi("MPI_Send", "send to " (x + dx) * n + y + dy " size 128KiB")
	if (on(x - dx, y - dy)) mpi("MPI_Recv", "recv from " (x - dx) * n + y - dy " size 128KiB")
}
function begin(x, y) { # an exchange with a neighbor
	if (!on(x, y)) return
	peer[++requests] = x * n + y
	mpi("MPI_Irecv", "post " 2 * requests)
	mpi("MPI_Isend", "send to " peer[requests] " size 128KiB request " 2 * requests + 1)
}
function exchange(x, y,   i, records) {
	print now, "exchange {"
	if (nonblocking) {
		requests = 0
		begin(x + 1, y)
		begin(x - 1, y)
		begin(x, y + 1)
		begin(x, y - 1)
		for (i = 1; i <= requests; i++)
			records = records (i > 1 ? "; " : "") "recv from " peer[i] " size 128KiB request " 2 * i "; sent " 2 * i + 1
		mpi("MPI_Waitall", records)
	} else {
		shift(x, y, 1, 0)
		shift(x, y, -1, 0)
		shift(x, y, 0, 1)
		shift(x, y, 0, -1)
	}
	print "}", now
}
function work(x, y,   d) {
	if (even) return 6000
	d = sqrt((x - (n - 1) / 2) ^ 2 + (y - (n - 1) / 2) ^ 2)
	return d < 0.25 * n ? 8000 : d < 0.32 * n ? 7000 : 6000
}
BEGIN {
	if (!n) n = 16
	if (!iterations) iterations = 10
	print "slackline trace 1\nunit us"
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++) {
			now = 0
			print "rank", x * n + y
			print "0 main {"
			for (i = 1; i <= iterations; i++) {
				print now ".." now + work(x, y), "push"
				now += work(x, y)
				exchange(x, y)
				if (i % 5 == 0) mpi("MPI_Allreduce", "allreduce sent 8 received 8")
			}
			print "}", now
		}
}
