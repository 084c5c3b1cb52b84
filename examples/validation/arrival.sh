#!/bin/sh
# Records arrival.c under several added latencies, predicts its run time under others from each of these traces, measures it there,
# and prints the table of docs/studies/validation.md as Markdown. It takes about a minute on a quiet machine.
#
# Variables: SLACKLINE (the program), MPI, RECORDED and ADDED (us), RUNS (of which the fastest counts).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${SLACKLINE:=slackline}" "${MPI:=mpich}" "${RECORDED:=0 150 350}" "${ADDED:=0 50 150 250 350 450 550}" "${RUNS:=3}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"mpicc.$MPI" -O2 -o arrival "$here/arrival.c"
launch="mpirun.$MPI -n 2 ./arrival"

# injected US COMMAND...: the command under so much added latency
injected() { us=$1; shift; "$SLACKLINE" inject --quiet --latency "${us}us" -- "$@"; }
fastest() { i=0; while [ $i -lt "$RUNS" ]; do "$@" 2>>log; i=$((i + 1)); done | sort -n | head -n 1; }
ms() { awk '{ printf " %.1f |", $1 / 1e6 }'; }

for us in $RECORDED; do # the fastest of RUNS recordings
	i=0
	best=
	while [ $i -lt "$RUNS" ]; do
		# shellcheck disable=SC2086
		ns=$(injected "$us" "$SLACKLINE" record --quiet --sample off --out "run$i.slt" --force -- $launch 2>>log)
		if [ -z "$best" ] || [ "$ns" -lt "$best" ]; then
			best=$ns
			rm -rf "at$us.slt"
			mv "run$i.slt" "at$us.slt"
		fi
		i=$((i + 1))
	done
done
printf '| run time in ms under added latency (us) |'
for us in $ADDED; do printf ' %s |' "$us"; done
printf '\n| --- |'
for us in $ADDED; do printf ' --- |'; done
printf '\n| measured |'
for us in $ADDED; do
	# shellcheck disable=SC2086
	fastest injected "$us" $launch | ms
done
for at in $RECORDED; do
	printf '\n| predicted from a trace recorded at %s us |' "$at"
	for us in $ADDED; do
		"$SLACKLINE" tolerance "at$at.slt" -L "$((us + 1))us" -o 300ns -G 0.1ns --format json 2>>log | sed -n 's/.*"T_ns": *\([0-9.]*\).*/\1/p' | ms
	done
done
echo
