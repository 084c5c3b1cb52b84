#!/bin/sh
# Validates predictions with real applications: records the programs of a list, predicts their run times with more latency, runs them
# with that latency injected, and prints the table of docs/studies/validation.md.
#
#     examples/validation/apps.sh LIST                                 # prints the table
#     examples/validation/apps.sh LIST docs/studies/validation.md      # writes it between the marks of that page
#
# The applications are not part of slackline: fetch and build them as their authors say, once per MPI library, without OpenMP. The
# list has a program per line: a name, a number of ranks, the folder to run in, the command. {mpi} becomes openmpi or mpich; folders
# and commands that are paths are relative to the list. Choose problems that run for one to three seconds. Example:
#
#     comd  2  CoMD  bin/{mpi}/comd -x 8 -y 8 -z 8 -i 2 -N 200
#
# Variables: SLACKLINE (the program), MPIS, PROGRAMS (names of the list; default: all), DELAYS (us), RUNS (of which the fastest
# counts), DIR (for machine files, recordings and results, which are kept: a further call adds its runs to them; RUNS=0 adds none).
set -eu
: "${SLACKLINE:=slackline}" "${MPIS:=openmpi mpich}" "${PROGRAMS:=}" "${DELAYS:=0 25 50 100 200 400}" "${RUNS:=3}" "${DIR:=}"
case "$SLACKLINE" in */*) SLACKLINE=$(realpath "$SLACKLINE") ;; esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
list=$(realpath "$1") page=${2:+$(realpath "$2")}
root=$(dirname "$list")
if [ -z "$DIR" ]; then
	DIR=$(mktemp -d)
	trap 'rm -rf "$DIR"' EXIT
fi
mkdir -p "$DIR"
DIR=$(realpath "$DIR")
touch "$DIR/runs.txt" "$DIR/talk"

say() { echo "$*" >&2; }

# in_us: a time of a machine file as a number of microseconds
in_us() { awk '{ v = $1 + 0; if ($1 ~ /ns$/) v /= 1000; else if ($1 ~ /ms$/) v *= 1000; print v }'; }

# launch VERB...: runs the program of the current line under a verb of slackline
launch() {
	crowd=
	[ "$mpi" != openmpi ] || [ "$ranks" -le "$(nproc)" ] || crowd=--oversubscribe
	(cd "$root/$folder" && "$SLACKLINE" "$@" --mpi "$mpi" -- "mpirun.$mpi" $crowd -n "$ranks" $command >>"$DIR/talk" 2>&1)
}

# record: a recording; the fastest one becomes MPI-NAME-RANKS.slt
record() {
	launch record --quiet --force --sample off --callpath off --out "$DIR/try.slt"
	run=$("$SLACKLINE" profile "$DIR/try.slt" --format json --quiet 2>>"$DIR/talk" |
		sed -n 's/.*"time_s": *\([0-9.]*\).*/\1/p' | head -n 1)
	if sort -n "$trace.time" 2>/dev/null | awk -v new="$run" 'NR == 1 && $1 + 0 <= new + 0 { exit 1 }'; then
		rm -rf "$trace"
		mv "$DIR/try.slt" "$trace"
	fi
	echo "$run" >>"$trace.time"
}

# injected DELAY: a run; ns from MPI_Init to MPI_Finalize of the slowest rank, share of time without a CPU in %, number of messages
injected() {
	launch inject --quiet --format json --out "$DIR/report.json" --latency "$1us"
	awk '{ v = $0; gsub(/[^0-9-]/, "", v) }
		/"run_ns"/ { run += v; if (v + 0 > most) most = v + 0 } /"waited_ns"/ { waited += v } /"sent"/ { sent += v }
		END { printf "%.0f %.2f %d\n", most, (run > 0 ? 100 * waited / run : 0), sent }' "$DIR/report.json"
}

# network: the parameters of the network; a disturbed measurement is rejected
network() {
	"$SLACKLINE" measure network --mpi "$mpi" --max-size 64KiB --rounds 3 --machine-file "$DIR/$mpi.yaml" --quiet >>"$DIR/talk" 2>&1
}

# each COMMAND: calls it for every program and MPI library that is asked for
each() {
	for mpi in $MPIS; do
		sed 's/#.*//' "$list" | while read -r name ranks folder command; do
			[ -n "$name" ] || continue
			case " ${PROGRAMS:-$name} " in *" $name "*) ;; *) continue ;; esac
			command=$(echo "$command" | sed "s/{mpi}/$mpi/g")
			case "$command" in /*) ;; */*) command=$root/$command ;; esac
			trace=$DIR/$mpi-$name-$ranks.slt
			"$1" </dev/null
		done
	done
}

measure() {
	[ -e "$DIR/$mpi.yaml" ] || network || network || network
	i=0
	while [ $i -lt "$RUNS" ]; do # in turn, because the speed of a machine may change
		record
		for delay in $DELAYS; do
			found=$(injected "$delay")
			echo "$mpi $name $ranks $delay $found" >>"$DIR/runs.txt"
		done
		i=$((i + 1))
	done
	say "$mpi: $name on $ranks ranks"
}

# predict: MPI, name, ranks, delay, predicted ns, measured ns, share without a CPU, messages
predict() {
	[ -e "$trace" ] || return 0
	own=$(sed -n 's/^L: *//p' "$DIR/$mpi.yaml" | in_us)
	for delay in $DELAYS; do
		latency=$(awk -v a="$own" -v b="$delay" 'BEGIN { printf "%.3fus", a + b }')
		predicted=$("$SLACKLINE" tolerance "$trace" --machine "$DIR/$mpi.yaml" -L "$latency" --format json --quiet 2>>"$DIR/talk" |
			sed -n 's/.*"T_ns": *\([0-9.]*\).*/\1/p' | head -n 1)
		measured=$(grep "^$mpi $name $ranks $delay " "$DIR/runs.txt" | cut -d' ' -f5- | sort -n | head -n 1)
		[ -z "$measured" ] || echo "$mpi $name $ranks $delay $predicted $measured"
	done
}

each measure
each predict >"$DIR/results.txt"

table() {
	awk '
		{
			key = $1 " | " $2 " | " $3
			if (!(key in n)) order[++keys] = key
			if (!($4 in column)) { column[$4] = ++columns; name[columns] = $4 }
			cell[key, $4] = sprintf("%.0f / %.0f", $5 / 1e6, $6 / 1e6)
			d = ($5 - $6) / 1e6; square[key] += d * d; all[key] += $6 / 1e6; n[key]++
			if ($7 + 0 > lacked[key] + 0) lacked[key] = $7
			sent[key] = $8
		}
		END {
			line = "| MPI | program | ranks | messages |"; rule = "| --- | --- | --- | --- |"
			for (c = 1; c <= columns; c++) { line = line " +" name[c] " |"; rule = rule " --- |" }
			print line " without a CPU [%] | RMSE [ms] | RRMSE [%] |"; print rule " --- | --- | --- |"
			for (k = 1; k <= keys; k++) {
				key = order[k]; line = "| " key " | " sent[key] " |"
				for (c = 1; c <= columns; c++) line = line " " cell[key, name[c]] " |"
				rmse = sqrt(square[key] / n[key])
				print line sprintf(" %.1f | %.1f | %.2f |", lacked[key], rmse, 100 * rmse / (all[key] / n[key]))
			}
		}' "$DIR/results.txt"
}

if [ -z "$page" ]; then
	table
	exit
fi
table >"$DIR/table.md"
awk -v table="$DIR/table.md" '
	/^<!-- end of the table of applications -->/ { inside = 0 }
	!inside { print }
	/^<!-- table of examples\/validation\/apps.sh -->/ { inside = 1; print ""; while ((getline line < table) > 0) print line; print "" }
' "$page" >"$DIR/page.md"
cat "$DIR/page.md" >"$page"
