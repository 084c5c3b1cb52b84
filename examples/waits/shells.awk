# Waits of the exchanges of core.awk by the distance of a rank from the core, in steps between neighbors, from the CSV
# of slackline waits: direct + indirect, in ms.
function work(x, y, z) {
	return sqrt((x - 3.5) ^ 2 + (y - 3.5) ^ 2 + (z - 3.5) ^ 2) < 0.4 * 8
}
function abs(a) {
	return a < 0 ? -a : a
}
BEGIN {
	FS = ","
	for (r = 0; r < 512; r++) if (work(int(r / 64), int(r / 8) % 8, r % 8)) core[r]
	for (r = 0; r < 512; r++) {
		shell[r] = 99
		for (c in core) {
			d = abs(int(r / 64) - int(c / 64)) + abs(int(r / 8) % 8 - int(c / 8) % 8) + abs(r % 8 - c % 8)
			if (d < shell[r]) shell[r] = d
		}
		ranks[shell[r]]++
	}
}
$1 == "wait" && match($4, /exchange[1-4]/) {
	phase = substr($4, RSTART + 8, 1)
	direct[shell[$3], phase] += 1000 * $6
	indirect[shell[$3], phase] += 1000 * $7
}
END {
	printf "%-15s %5s", "", "ranks"
	for (p = 1; p <= 4; p++) printf "  %15s", "exchange" p
	print ""
	for (s = 0; s <= 9; s++) {
		if (!(s in ranks)) continue
		printf "%-15s %5d", s ? s " from the core" : "in the core", ranks[s]
		for (p = 1; p <= 4; p++) printf "  %15s", sprintf("%.1f + %.1f", direct[s, p], indirect[s, p])
		print ""
	}
}
