# A program with the structure of Illumination as a trace: ranks on a square exchange large messages with their four
# neighbors, direction by direction; ranks within a circle in the middle have a third more work.
#
#   awk -f particles.awk > blocking.trace                        blocking sends and receives
#   awk -v nonblocking=1 -f particles.awk > nonblocking.trace    all four directions at once
#   slackline waits blocking.trace --grid 16x16
#
# The script sets the times: a message takes 160 us from when both ends are ready, and both calls end then. Four
# non-blocking messages share a link: all take 640 us. -v sets n (the side of the square), iterations,
# and even (the same work on all ranks).
function write(r, line) {
	text[r] = text[r] line "\n"
}
function on(x, y) {
	return x >= 0 && x < n && y >= 0 && y < n
}
function plan(r, what, partner) {
	op[r, ops[r]] = what
	peer[r, ops[r]++] = partner
}
function shift(x, y, dx, dy) { # send in one direction, receive from the other
	if (on(x + dx, y + dy)) plan(x * n + y, "send", (x + dx) * n + y + dy)
	if (on(x - dx, y - dy)) plan(x * n + y, "recv", (x - dx) * n + y - dy)
}
function blocking(   r, x, y, more, q, t) {
	for (r = 0; r < n * n; r++) {
		ops[r] = at[r] = 0
		x = int(r / n)
		y = r % n
		shift(x, y, 1, 0)
		shift(x, y, -1, 0)
		shift(x, y, 0, 1)
		shift(x, y, 0, -1)
	}
	do {
		more = 0
		for (r = 0; r < n * n; r++) {
			q = peer[r, at[r]]
			if (at[r] >= ops[r] || op[r, at[r]] != "send" || at[q] >= ops[q] || op[q, at[q]] != "recv" || peer[q, at[q]] != r) continue
			t = (now[r] > now[q] ? now[r] : now[q]) + 160
			write(r, now[r] ".." t " MPI_Send: send to " q " size 128KiB")
			write(q, now[q] ".." t " MPI_Recv: recv from " r " size 128KiB")
			now[r] = now[q] = t
			at[r]++
			at[q]++
			more = 1
		}
	} while (more)
}
function begin(r, x, y) { # an exchange with a neighbor; it is complete 640 us after both have started it
	if (!on(x, y)) return
	peer[r, ops[r]++] = x * n + y
	write(r, now[r] ".." now[r] + 1 " MPI_Irecv: post " 2 * ops[r])
	write(r, now[r] + 1 ".." now[r] + 2 " MPI_Isend: send to " x * n + y " size 128KiB request " 2 * ops[r] + 1)
	now[r] += 2
}
function all_at_once(   r, x, y, i, records) {
	for (r = 0; r < n * n; r++) {
		ops[r] = 0
		x = int(r / n)
		y = r % n
		begin(r, x + 1, y)
		begin(r, x - 1, y)
		begin(r, x, y + 1)
		begin(r, x, y - 1)
	}
	for (r = 0; r < n * n; r++) {
		end[r] = 0
		records = ""
		for (i = 0; i < ops[r]; i++) {
			if (now[peer[r, i]] > end[r]) end[r] = now[peer[r, i]]
			records = records "; recv from " peer[r, i] " size 128KiB request " 2 * (i + 1) "; sent " 2 * (i + 1) + 1
		}
		end[r] = (end[r] > now[r] ? end[r] : now[r]) + 640
		write(r, now[r] ".." end[r] " MPI_Waitall: " substr(records, 3))
	}
	for (r = 0; r < n * n; r++) now[r] = end[r]
}
function allreduce(   r, last) {
	last = 0
	for (r = 0; r < n * n; r++) if (now[r] > last) last = now[r]
	for (r = 0; r < n * n; r++) {
		write(r, now[r] ".." last + 50 " MPI_Allreduce: allreduce sent 8 received 8")
		now[r] = last + 50
	}
}
function work(r,   d) {
	if (even) return 6000
	d = sqrt((int(r / n) - (n - 1) / 2) ^ 2 + (r % n - (n - 1) / 2) ^ 2)
	return d < 0.25 * n ? 8000 : d < 0.32 * n ? 7000 : 6000
}
BEGIN {
	if (!n) n = 16
	if (!iterations) iterations = 10
	for (r = 0; r < n * n; r++) write(r, "rank " r "\n0 main {")
	for (i = 1; i <= iterations; i++) {
		for (r = 0; r < n * n; r++) {
			write(r, now[r] + 0 ".." now[r] + work(r) " push")
			now[r] += work(r)
			write(r, now[r] " exchange {")
		}
		if (nonblocking) all_at_once()
		else blocking()
		for (r = 0; r < n * n; r++) write(r, "} " now[r])
		if (i % 5 == 0) allreduce()
	}
	print "slackline trace 1\nunit us"
	for (r = 0; r < n * n; r++) print text[r] "} " now[r]
}
