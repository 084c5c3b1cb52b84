#!/bin/sh
# Records the programs of this directory on two ranks, predicts their run times under added latency and under noise, runs
# them so, and prints the tables of docs/studies/validation.md. On a quiet machine with two CPUs it takes about five minutes:
#
#     examples/validation/run.sh                                 # prints the tables
#     examples/validation/run.sh docs/studies/validation.md      # puts them between the marks of that page
#
# Variables: SLACKLINE (the program), MPIS, PROGRAMS, DELAYS (us), NOISES, RUNS (of which the fastest counts).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${SLACKLINE:=slackline}" "${MPIS:=openmpi mpich}" "${PROGRAMS:=pingpong halo cg hidden}" "${DELAYS:=0 25 50 100 200 400}"
: "${NOISES:=100Hz:500us 10Hz:5ms}" "${RUNS:=3}"
case "$SLACKLINE" in */*) SLACKLINE=$(cd "$(dirname "$SLACKLINE")" && pwd)/$(basename "$SLACKLINE") ;; esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
page=
[ $# -eq 0 ] || page=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say() { echo "$*" >&2; }

# field NAME: a number in JSON on the standard input
field() { sed -n "s/.*\"$1\": *\\([0-9.]*\\).*/\\1/p" | head -n 1; }

# in_us: a time of a machine file as a number of microseconds
in_us() { awk '{ v = $1 + 0; if ($1 ~ /ns$/) v /= 1000; else if ($1 ~ /ms$/) v *= 1000; print v }'; }

# fastest COMMAND...: the least run time that a program printed, in RUNS runs
fastest() {
	i=0
	while [ $i -lt "$RUNS" ]; do
		"$@" 2>>talk
		i=$((i + 1))
	done | sort -n | head -n 1
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

# network: the parameters of the network; a disturbed measurement is refused
network() { "$SLACKLINE" measure network --mpi "$mpi" --max-size 16KiB --machine-file "$mpi.yaml" --quiet >/dev/null; }

begin=$(cut -d' ' -f1 /proc/loadavg)
: >latency.txt
: >noise.txt
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
			measured=$(fastest "$SLACKLINE" inject --quiet --latency "${delay}us" -- "mpirun.$mpi" -n 2 "./$program")
			echo "$mpi $program $delay $predicted $measured" >>latency.txt
		done
		for noise in $NOISES; do
			for seed in 1 2 3; do
				predicted=$("$SLACKLINE" simulate "$program.slt" --machine "$mpi.yaml" --noise "$noise" --seed "$seed" --format json --quiet 2>>talk | field makespan_ns)
				measured=$(RUNS=1 fastest "$SLACKLINE" inject --quiet --noise "$noise" --seed "$seed" -- "mpirun.$mpi" -n 2 "./$program")
				echo "$mpi $program $noise $predicted $measured" >>noise.txt
			done
		done
	done
done

# table FILE HEADING: what was predicted and measured for each program, and how far it is apart
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
	echo "Load of the machine: $begin at the begin, $(cut -d' ' -f1 /proc/loadavg) at the end (two of it are the programs')."
	echo
	echo "Predicted / measured run time in ms under added latency (us):"
	echo
	table latency.txt "+"
	echo
	echo "Predicted / measured run time in ms under noise, means over three seeds; the errors are those of single runs:"
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
