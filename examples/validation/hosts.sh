#!/bin/sh
# Records the programs in this directory on two and three hosts, predicts their run times with 1 ms more latency between the hosts,
# delays every packet by 1 ms (observe/mpi/mpitest/hosts), measures them, and prints the table of docs/studies/validation.md.
# This needs root, and takes about ten minutes:
#
#     examples/validation/hosts.sh                               # prints the table
#     examples/validation/hosts.sh docs/studies/validation.md    # writes it between the marks of that page
#
# Variables: SLACKLINE (the program), MPIS, PROGRAMS, RANKS, DELAY (us), RUNS (of which the fastest counts).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${SLACKLINE:=slackline}" "${MPIS:=openmpi mpich}" "${PROGRAMS:=pingpong halo cg hidden large}" "${RANKS:=2 3}" "${DELAY:=1000}" "${RUNS:=5}"
export SLACKLINE MPIS PROGRAMS RANKS DELAY RUNS
if [ -z "${SITE:-}" ]; then # create the hosts first, then run this script again next to them
	SLACKLINE=$(realpath "$(command -v "$SLACKLINE")")
	[ $# -eq 0 ] || set -- "$(realpath "$1")"
	SITE=$(mktemp -d)
	export SITE
	trap 'rm -rf "$SITE"' EXIT
	"$here/../../observe/mpi/mpitest/hosts/hosts" "$SITE" "$0" "$@"
	exit
fi
cd "$SITE"
cp "$SLACKLINE" slackline

say() { echo "$*" >&2; }
field() { sed -n "s/.*\"$1\": *\\([0-9.]*\\).*/\\1/p" | head -n 1; } # NAME: a number in JSON on standard input
in_us() { awk '{ v = $1 + 0; if ($1 ~ /ns$/) v /= 1000; else if ($1 ~ /ms$/) v *= 1000; print v }'; }

# fastest COMMAND...: the minimum run time that the program printed, in RUNS runs
fastest() {
	i=0
	while [ $i -lt "$RUNS" ]; do
		"$SITE/$mpi" "$@" 2>>talk
		i=$((i + 1))
	done | sort -n | head -n 1
}

# record PROGRAM RANKS: the recording in which the program was fastest, as PROGRAM.slt; prints how long it took
record() {
	i=0 best=
	while [ $i -lt "$RUNS" ]; do
		time=$("$SITE/$mpi" ./slackline record --quiet --force --sample off --callpath off --out try.slt -- "mpirun.$mpi" -n "$2" "./$1" 2>>talk)
		if [ -z "$best" ] || [ "$time" -lt "$best" ]; then
			best=$time
			rm -rf "$1.slt"
			mv try.slt "$1.slt"
		fi
		i=$((i + 1))
	done
	echo "$best"
}

# predict PROGRAM LATENCY: the run time in ns
predict() { ./slackline tolerance "$1.slt" --machine "$mpi.yaml" --mapping "$mpi" -L "$2" --format json --quiet 2>>talk | field T_ns; }

network() { "$SITE/$mpi" ./slackline measure network --mpi "$mpi" --max-size 64KiB --rounds 3 --machine-file "$mpi.yaml" --quiet >>talk; }

begin=$(cut -d' ' -f1 /proc/loadavg)
: >results.txt
for mpi in $MPIS; do
	say "$mpi: network"
	network || network || network
	own=$(sed -n 's/^L: *//p' "$mpi.yaml" | in_us)
	for ranks in $RANKS; do
		for program in $PROGRAMS; do
			"mpicc.$mpi" -O2 -Wno-stringop-overflow -o "$program" "$here/$program.c"
			recorded=$(record "$program" "$ranks")
			"$SITE/delay" "$DELAY"
			measured=$(fastest "mpirun.$mpi" -n "$ranks" "./$program")
			added=$("$SITE/delay" 0 | awk '{ print $1 }') # the measured delay of packets
			latency=$(awk -v a="$own" -v b="$added" 'BEGIN { printf "%.3fus", a + b }')
			predicted=$(predict "$program" "${own}us") # what the model makes of the recorded run itself
			predicted="$predicted $(predict "$program" "$latency")"
			lacked=$(./slackline profile "$program.slt" --format json --quiet 2>>talk | field no_cpu_share)
			echo "$mpi $program $ranks $recorded ${lacked:-0} $added $predicted $measured" >>results.txt
			say "$(tail -n 1 results.txt)"
		done
	done
done

tables() {
	echo "Load of the machine: $begin at the start, $(cut -d' ' -f1 /proc/loadavg) at the end (up to three of it are the programs')."
	echo
	echo "| MPI | program | ranks | recorded [ms] | without a CPU [%] | predicted at own L [ms] | added [us] | predicted [ms] | measured [ms] | error [%] |"
	echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
	awk '{
		printf "| %s | %s | %d | %.1f | %.1f | %.1f | %.0f | %.1f | %.1f | %+.1f |\n",
			$1, $2, $3, $4 / 1e6, 100 * $5, $7 / 1e6, $6, $8 / 1e6, $9 / 1e6, 100 * ($8 / $9 - 1)
	}' results.txt
}

if [ $# -eq 0 ]; then
	tables
	exit
fi
tables >tables.md
awk -v tables=tables.md '
	/^<!-- end of the table of hosts -->/ { inside = 0 }
	!inside { print }
	/^<!-- table of examples\/validation\/hosts.sh -->/ { inside = 1; print ""; while ((getline line < tables) > 0) print line; print "" }
' "$1" >page.md
cat page.md >"$1"
