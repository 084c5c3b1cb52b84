#!/bin/sh
# Validates predictions with real applications: records the programs of a list, predicts their run times with more latency, runs them
# with that latency injected, and prints the table of docs/studies/validation.md.
#
#     examples/validation/apps.sh LIST                                 # prints the table
#     examples/validation/apps.sh LIST docs/studies/validation.md      # writes it between the marks of that page
#
# The applications are not part of slackline: fetch.sh fetches and builds those of the page and writes the list. For others build them as
# their authors say, once per MPI library, without OpenMP. The list has a program per line: a name, a number of ranks, the folder to
# run in, the command. {mpi} becomes openmpi or mpich; folders and commands that are paths are relative to the list. Choose problems
# that run for one to three seconds. Example:
#
#     comd  2  CoMD  bin/{mpi}/comd -x 8 -y 8 -z 8 -i 2 -N 200
#
# Every injected run is recorded too. A prediction from that recording has the computation of the run itself, so its error is that
# of the communication, and of the time without a CPU, which a replay leaves out; the last column has that of all ranks added.
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

# in_us: a time as a number of microseconds
in_us() { awk '{ v = $1 + 0; print v * ($1 ~ /ns$/ ? 0.001 : $1 ~ /us$/ ? 1 : $1 ~ /ms$/ ? 1000 : $1 ~ /s$/ ? 1e6 : 1) }'; }

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

# injected DELAY: a run, recorded as try.slt; ns of the slowest rank, number of messages
injected() {
	launch inject --quiet --format json --out "$DIR/report.json" --latency "$1us" --mpi "$mpi" -- \
		"$SLACKLINE" record --quiet --force --sample off --callpath off --out "$DIR/try.slt"
	awk '{ v = $0; gsub(/[^0-9-]/, "", v) }
		/"run_ns"/ { if (v + 0 > most) most = v + 0 } /"sent"/ { sent += v }
		END { printf "%.0f %d\n", most, sent }' "$DIR/report.json"
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
			own=$trace.$delay.$(grep -c "^$mpi $name $ranks $delay " "$DIR/runs.txt" || true)
			rm -rf "$own"
			mv "$DIR/try.slt" "$own"
			echo "$mpi $name $ranks $delay $found $own" >>"$DIR/runs.txt"
		done
		i=$((i + 1))
	done
	say "$mpi: $name on $ranks ranks"
}

# predicted TRACE DELAY: the run time in us by a recording; what is said about the recording goes to the file said
predicted() {
	latency=$(sed -n 's/^L: *//p' "$DIR/$mpi.yaml" | in_us | awk -v added="$2" '{ printf "%.3fus", $1 + added }')
	"$SLACKLINE" tolerance "$1" --machine "$DIR/$mpi.yaml" -L "$latency" --format json --no-progress 2>"$DIR/said" |
		sed -n 's/.*"T_ns": *\([0-9.]*\).*/\1ns/p' | head -n 1 | in_us
}

# predict: MPI, name, ranks, delay; in us: predicted, predicted with the computation of the run itself, measured, time of all ranks
# without a CPU; how much longer the slowest run is in %, number of messages. The measured time is that between MPI_Init and
# MPI_Finalize; that of the report has the start and the end of the recorder, too.
predict() {
	[ -e "$trace" ] || return 0
	for delay in $DELAYS; do
		grep "^$mpi $name $ranks $delay " "$DIR/runs.txt" | sort -n -k 5 >"$DIR/cell" || continue
		read -r _ _ _ _ fastest sent own <"$DIR/cell"
		spread=$(tail -n 1 "$DIR/cell" | awk -v fastest="$fastest" '{ printf "%.1f", 100 * ($5 / fastest - 1) }')
		first=$(predicted "$trace" "$delay")
		second=$(predicted "$own" "$delay")
		measured=$(sed -n 's/.*recorded run of .* over \([0-9.]*[mu]*s\):.*/\1/p' "$DIR/said" | in_us)
		lacked=$(sed -n 's/.*ranks were without a CPU for \([0-9.]*[mu]*s\),.*/\1/p' "$DIR/said" | in_us)
		echo "$mpi $name $ranks $delay $first $second $measured ${lacked:-0} $spread $sent"
	done
}

each measure
each predict >"$DIR/results.txt"

table() {
	awk '
		function rrmse(square) { return 100 * sqrt(square / n[key]) / (all[key] / n[key]) }
		# The median of the cells of a row.
		function median(list, m,   i, j, x) {
			for (i = 2; i <= m; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { x = list[j]; list[j] = list[j - 1]; list[j - 1] = x }
			return m % 2 ? list[(m + 1) / 2] : (list[m / 2] + list[m / 2 + 1]) / 2
		}
		{
			key = $1 " | " $2 " | " $3
			if (!(key in n)) order[++keys] = key
			if (!($4 in column)) { column[$4] = ++columns; name[columns] = $4 }
			cell[key, $4] = sprintf("%.0f / %.0f", $5 / 1e3, $7 / 1e3)
			square[key] += ($5 - $7) ^ 2; own[key] += ($6 - $7) ^ 2; crowded[key] += ($6 + $8 - $7) ^ 2
			all[key] += $7; n[key]++; spread[key, n[key]] = $9
			if (100 * $8 / $3 / $7 > lacked[key] + 0) lacked[key] = 100 * $8 / $3 / $7
			sent[key] = $10
		}
		END {
			line = "| MPI | program | ranks | messages |"; rule = "| --- | --- | --- | --- |"
			for (c = 1; c <= columns; c++) { line = line " +" name[c] " |"; rule = rule " --- |" }
			print line " without a CPU [%] | equal runs differ by [%] | RRMSE [%] | own computation [%] | and without a CPU [%] |"
			print rule " --- | --- | --- | --- | --- |"
			for (k = 1; k <= keys; k++) {
				key = order[k]; line = "| " key " | " sent[key] " |"
				for (c = 1; c <= columns; c++) line = line " " cell[key, name[c]] " |"
				for (c = 1; c <= n[key]; c++) values[c] = spread[key, c] + 0
				line = line sprintf(" %.1f | %.1f | %.2f |", lacked[key], median(values, n[key]), rrmse(square[key]))
				print line sprintf(" %.2f | %.2f |", rrmse(own[key]), rrmse(crowded[key]))
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
