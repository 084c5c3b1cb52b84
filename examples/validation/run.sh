#!/bin/sh
# Records the programs in this directory on two ranks, predicts their run times under added latency and under noise, measures
# them, and prints the tables of docs/studies/validation.md. This takes about ten minutes on a quiet machine with two CPUs:
#
#     examples/validation/run.sh                                 # prints the tables
#     examples/validation/run.sh docs/studies/validation.md      # writes them between the marks of that page, and the data
#                                                                # of its figures to latency.csv and detours.csv; then run
#                                                                # make figures
#
# Variables: SLACKLINE (the program), MPIS, PROGRAMS, DELAYS (us), NOISES, LENGTHS (us, of single detours), PIECES, RUNS (of
# which the fastest counts).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${SLACKLINE:=slackline}" "${MPIS:=openmpi mpich}" "${PROGRAMS:=pingpong halo cg hidden large}" "${DELAYS:=0 25 50 100 200 400}"
: "${NOISES:=100Hz:500us 10Hz:5ms 100Hz:2ms}" "${LENGTHS:=50 100 200 400 800}" "${PIECES:=3000}" "${RUNS:=3}"
case "$SLACKLINE" in */*) SLACKLINE=$(cd "$(dirname "$SLACKLINE")" && pwd)/$(basename "$SLACKLINE") ;; esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
page=
[ $# -eq 0 ] || page=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { echo "$*" >&2; }

# field NAME: a number in JSON on standard input
field() { sed -n "s/.*\"$1\": *\\([0-9.]*\\).*/\\1/p" | head -n 1; }

# in_us: a time of a machine file as a number of microseconds
in_us() { awk '{ v = $1 + 0; if ($1 ~ /ns$/) v /= 1000; else if ($1 ~ /ms$/) v *= 1000; print v }'; }

# injected FLAGS...: the minimum run time that the program printed, in RUNS runs under injection; the share of time that the
# ranks of that run waited for a CPU goes to waited.txt
injected() {
	i=0
	while [ $i -lt "$RUNS" ]; do
		time=$("$SLACKLINE" inject --quiet --out report.json --format json "$@" 2>>talk)
		share=$(awk '/"run_ns"/ { gsub(/[^0-9-]/, ""); run += $0 } /"waited_ns"/ { gsub(/[^0-9-]/, ""); waited += $0 } END { print (run > 0 ? 100 * waited / run : -1) }' report.json)
		echo "$time $share"
		i=$((i + 1))
	done | sort -n | head -n 1 >best.txt
	cut -d' ' -f2 best.txt >>waited.txt
	cut -d' ' -f1 best.txt
}

# record PROGRAM: the recording in which the program was fastest, as PROGRAM.slt
record() {
	i=0 best=
	while [ $i -lt "$RUNS" ]; do
		time=$("$SLACKLINE" record --quiet --force --sample off --callpath off --out try.slt -- "mpirun.$mpi" -n 2 "./$1" 2>>talk)
		if [ -z "$best" ] || [ "$time" -lt "$best" ]; then
			best=$time
			rm -rf "$1.slt"
			mv try.slt "$1.slt"
		fi
		i=$((i + 1))
	done
}

# network: the parameters of the network; a disturbed measurement is rejected
network() { "$SLACKLINE" measure network --mpi "$mpi" --max-size 64KiB --machine-file "$mpi.yaml" --quiet >/dev/null; }

# detour LENGTH: the cost of a detour of LENGTH microseconds, in us: the median time of pieces of a program with one detour minus
# that of pieces without, for pieces in which no rank lost its CPU to another process; then the numbers of both kinds
detour() {
	"$SLACKLINE" inject --quiet --noise "100Hz:$1us" --seed 1 -- "mpirun.$mpi" -n 2 ./detours 2 "$PIECES" 2>>talk |
		awk '$2 == 0 && $3 + $4 <= 1 { print $3 + $4, $1 }' | sort -k1n -k2n |
		awk '{ n[$1]++; v[$1, n[$1]] = $2 }
			function median(k) { return n[k] > 0 ? (v[k, int((n[k] + 1) / 2)] + v[k, int(n[k] / 2) + 1]) / 2 : 0 }
			END { if (n[0] > 0 && n[1] > 0) printf "%.1f %d %d\n", (median(1) - median(0)) / 1000, n[0], n[1] }'
}

begin=$(cut -d' ' -f1 /proc/loadavg)
for file in latency.txt noise.txt detours.txt waited.txt; do : >$file; done
for mpi in $MPIS; do
	say "$mpi: network"
	network || network || network
	own=$(sed -n 's/^L: *//p' "$mpi.yaml" | in_us)
	for program in $PROGRAMS; do
		say "$mpi: $program"
		"mpicc.$mpi" -O2 -Wno-stringop-overflow -o "$program" "$here/$program.c"
		record "$program"
		for delay in $DELAYS; do
			latency=$(awk -v a="$own" -v b="$delay" 'BEGIN { printf "%.3fus", a + b }')
			predicted=$("$SLACKLINE" tolerance "$program.slt" --machine "$mpi.yaml" -L "$latency" --format json --quiet 2>>talk | field T_ns)
			measured=$(injected --latency "${delay}us" -- "mpirun.$mpi" -n 2 "./$program")
			echo "$mpi $program $delay $predicted $measured" >>latency.txt
		done
		for noise in $NOISES; do
			for seed in 1 2 3; do
				predicted=$("$SLACKLINE" simulate "$program.slt" --machine "$mpi.yaml" --noise "$noise" --seed "$seed" --format json --quiet 2>>talk | field makespan_ns)
				measured=$(injected --noise "$noise" --seed "$seed" -- "mpirun.$mpi" -n 2 "./$program")
				echo "$mpi $program $noise $predicted $measured" >>noise.txt
			done
		done
	done
	say "$mpi: detours"
	"mpicc.$mpi" -O2 -Wno-stringop-overflow -o detours "$here/../../observe/inject/testdata/detours.c"
	for length in $LENGTHS; do
		cost=$(detour "$length")
		[ -z "$cost" ] || echo "$mpi $length $cost" >>detours.txt
	done
done

# table FILE HEADING: predicted and measured run times of each program, and their errors
table() {
	awk -v heading="$2" '
		{
			key = $1 " | " $2; x = $3
			if (!(key in n)) order[++keys] = key
			if (!((key, x) in count)) { if (!(x in column)) { column[x] = ++columns; name[columns] = x } }
			count[key, x]++
			p[key, x] += $4; m[key, x] += $5
			d = ($4 - $5) / 1e9; square[key] += d * d; all[key] += $5 / 1e9; n[key]++
		}
		END {
			line = "| MPI | program |"; rule = "| --- | --- |"
			for (c = 1; c <= columns; c++) { line = line " " heading name[c] " |"; rule = rule " --- |" }
			print line " RMSE [ms] | RRMSE [%] |"; print rule " --- | --- |"
			for (k = 1; k <= keys; k++) {
				key = order[k]; line = "| " key " |"
				for (c = 1; c <= columns; c++) {
					v = count[key, name[c]]
					line = line sprintf(" %.1f / %.1f |", p[key, name[c]] / v / 1e6, m[key, name[c]] / v / 1e6)
				}
				rmse = sqrt(square[key] / n[key])
				print line sprintf(" %.2f | %.2f |", rmse * 1e3, 100 * rmse / (all[key] / n[key]))
			}
		}' "$1"
}

tables() {
	echo "Load of the machine: $begin at the start, $(cut -d' ' -f1 /proc/loadavg) at the end (two of it are the programs')."
	echo "Of the runs that count, ranks waited for a CPU for $(sort -n waited.txt | tail -n 1 | awk '{ printf "%.2f", $1 }') % of their time at most."
	echo
	echo "Predicted / measured run time in ms under added latency (us):"
	echo
	table latency.txt "+"
	echo
	echo "Predicted / measured run time in ms under noise, the fastest of $RUNS runs, means over three seeds; the errors are those of each seed:"
	echo
	table noise.txt ""
}

if [ $# -eq 0 ]; then
	tables
	exit
fi
tables >tables.md
awk -v tables=tables.md '
	/^<!-- end of the tables -->/ { inside = 0 }
	!inside { print }
	/^<!-- tables of examples\/validation\/run.sh -->/ { inside = 1; print ""; while ((getline line < tables) > 0) print line; print "" }
' "$page" >page.md
cat page.md >"$page"
awk 'BEGIN { print "callpath,metric,unit,predicted,value" } { printf "%s,measured,ms,%.1f,%.1f\n", $1, $4 / 1e6, $5 / 1e6 }' latency.txt >"$here/latency.csv"
awk 'BEGIN { print "callpath,metric,unit,length,value" } { printf "%s,cost,us,%s,%s\n", $1, $2, $3 }' detours.txt >"$here/detours.csv"
