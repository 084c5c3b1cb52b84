# A program with the structure of CESM's sea ice model as a trace: a grid of ranks with four threads each. Two kernels run on
# all threads; after each of them the first thread packs and exchanges with its neighbors alone (haloupdate). Only the ranks at
# both poles have ice, so that dyn_evp takes long there.
#
#   awk -f seaice.awk > seaice.trace
#   slackline waits seaice.trace
#
# The simulation has one thread per rank, so the times are computed here: a message arrives 6 us after it was sent. -v sets n (the
# side of the grid; it is periodic from west to east), threads and steps.
function noise(i) { # a fixed number from 0 to 9 for each i
	return (i * 7919 + int(i / 7) * 104729 + 13) % 10
}
function ice(rank,   y) { # within an eighth of the rows
	y = rank % n
	return y < n / 16 || y >= n - n / 16
}
function kernel(name, rank, step) {
	return (name == "dyn_evp" ? (ice(rank) ? 560 : 90) : 60) + noise(rank + 31 * step)
}
function neighbors(rank, list,   count, x, y) {
	x = int(rank / n); y = rank % n
	list[++count] = (x + n - 1) % n * n + y
	list[++count] = (x + 1) % n * n + y
	if (y > 0) list[++count] = rank - 1
	if (y < n - 1) list[++count] = rank + 1
	return count
}
# When the exchange of a phase is over on each rank: all send when they have packed, and wait for one neighbor after the other.
function phase(name, p,   r, i, count, list) {
	for (r = 0; r < ranks; r++) {
		start[r, p] = now[r]
		packed[r, p] = now[r] + 2 + kernel(name, r, p) + 2 + pack
	}
	for (r = 0; r < ranks; r++) {
		count = neighbors(r, list)
		now[r] = packed[r, p] + count
		for (i = 1; i <= count; i++) now[r] = received[r, p, i] = max(now[r] + 1, packed[list[i], p] + place(list[i], r) + 6)
		now[r]++
	}
}
function place(from, to,   i, count, list) { # the number of a send among those of its rank
	count = neighbors(from, list)
	for (i = 1; list[i] != to; i++);
	return i
}
function max(a, b) { return a > b ? a : b }
function team(name, r, p, t,   end) { # a parallel region of a thread
	end = start[r, p] + 1 + kernel(name, r, p)
	print "@" start[r, p] + 1, "team-begin"
	print start[r, p] + 1, "\"!$omp parallel @step\" {"
	print start[r, p] + 1 ".." end, name
	print end ".." end + 1, "\"!$omp implicit barrier @step\""
	print "}", end + 1
	print "@" end + 1, "team-end"
}
function master(name, r, p,   i, count, list, at) {
	print "@" start[r, p], "fork", threads
	team(name, r, p)
	at = packed[r, p] - pack
	print "@" at, "join"
	print at, "haloupdate {"
	print at ".." packed[r, p], "pack"
	count = neighbors(r, list)
	for (i = 1; i <= count; i++)
		print packed[r, p] + i - 1 ".." packed[r, p] + i, "MPI_Isend: send to", list[i], "size 2KiB tag", p, "request", i
	at = packed[r, p] + count
	for (i = 1; i <= count; i++) {
		print at ".." received[r, p, i], "MPI_Recv: recv from", list[i], "size 2KiB tag", p
		at = received[r, p, i]
	}
	print at ".." at + 1, "MPI_Waitall: sent 1" (count > 1 ? "; sent 2" : "") (count > 2 ? "; sent 3" : "") (count > 3 ? "; sent 4" : "")
	print "}", at + 1
}
BEGIN {
	if (!n) n = 32
	if (!threads) threads = 4
	if (!steps) steps = 20
	pack = 70
	ranks = n * n
	for (r = 0; r < ranks; r++) now[r] = 0
	for (p = 0; p < 2 * steps; p++) phase(p % 2 ? "transport" : "dyn_evp", p)
	print "slackline trace 1\nunit us\nregion \"!$omp parallel @step\" openmp parallel"
	print "region \"!$omp implicit barrier @step\" openmp implicit-barrier"
	for (r = 0; r < ranks; r++) {
		print "rank", r, "\n0 main {"
		for (p = 0; p < 2 * steps; p += 2) {
			print start[r, p], "step {"
			master("dyn_evp", r, p)
			master("transport", r, p + 1)
			print "}", p + 2 < 2 * steps ? start[r, p + 2] : now[r]
		}
		print "}", now[r]
		for (t = 1; t < threads; t++) {
			print "rank", r, "thread", t
			for (p = 0; p < 2 * steps; p++) team(p % 2 ? "transport" : "dyn_evp", r, p)
		}
	}
}
