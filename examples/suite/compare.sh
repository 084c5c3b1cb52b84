#!/usr/bin/env bash
# Runs every MPI program in a folder plain, recorded and injected, under each installed MPI
# library, and compares exit codes, output, and the number of calls of each MPI function.
# Differences are printed as a table.
#
#   compare.sh [-m "openmpi mpich"] [-n RANKS] [-t SECONDS] [-l LATENCY] [-f "FLAGS"] [-k DIR] FOLDER
#
#   -m  MPI libraries, by the suffixes of their mpicc and mpirun (default: openmpi and mpich, if installed)
#   -n  ranks of programs that are not listed in the file "runs" (default 2)
#   -t  time limit of a run (default 60 s); a run that does not end is also a result to compare
#   -l  injected latency (default 20us)
#   -f  compiler flags, e.g. "-O1 -I../include"
#   -k  keep programs, outputs and traces in this directory
#
# The folder has sources in C (.c), C++ (.cc, .cpp) or Fortran (.f90, .F90), one file per program, and may
# have a file "runs" with lines NAME RANKS ARGUMENTS. A name may occur several times; with 0 ranks it is
# skipped. Each run has its own directory.
#
# Lines of output may come in any order. If two plain runs differ, numbers are excluded from the comparison;
# if they still differ, the output is not compared. Calls are compared if two plain runs make the same
# number of them, in C and C++ programs.
#
# Exit code: 0 all the same, 3 something differs, 4 nothing could be compared, 2 wrong usage, 130 interrupted.
set -u -o pipefail

usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mpis='' ranks=2 limit=60 latency=20us flags='' keep=''
while getopts m:n:t:l:f:k: option; do
	case $option in
	m) mpis=$OPTARG ;;
	n) ranks=$OPTARG ;;
	t) limit=$OPTARG ;;
	l) latency=$OPTARG ;;
	f) flags=$OPTARG ;;
	k) keep=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] && [ -d "$1" ] || usage
case $ranks$limit in *[!0-9]* | '') usage ;; esac
folder=$(cd "$1" && pwd)
command -v slackline >/dev/null || { echo "compare.sh: put slackline into PATH" >&2; exit 2; }
if [ -z "$mpis" ]; then
	for mpi in openmpi mpich; do
		command -v "mpicc.$mpi" >/dev/null && command -v "mpirun.$mpi" >/dev/null && mpis="$mpis $mpi"
	done
fi

work=${keep:-$(mktemp -d)} # absolute
mkdir -p "$work" || exit 1
work=$(cd "$work" && pwd)
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 # more ranks than CPUs
if [ "$(id -u)" = 0 ]; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# The library that counts calls is generated from the table of MPI functions. Polls are not counted: their
# number depends on timing.
counter() { # MPI
	awk -F ' [|] ' '
		/^#/ || NF < 5 || $3 != "3" || $1 ~ /^(I?probe|Improbe|Test.*|Request_get_status|Init.*|Finalize)$/ { next }
		{
			n = split($5, params, /, /)
			list = ""
			for (i = 1; i <= n; i++) {
				name = params[i]
				sub(/\[.*/, "", name)
				sub(/.*[ *]/, "", name)
				list = list (i > 1 ? ", " : "") name
			}
			if ($5 == "void") list = ""
			printf "static long n_%s;\nint MPI_%s(%s) {\n    __atomic_fetch_add(&n_%s, 1, __ATOMIC_RELAXED);\n    return PMPI_%s(%s);\n}\n", $1, $1, $5, $1, $1, list
			all = all sprintf("    if (n_%s) fprintf(f, \"MPI_%s %%ld\\n\", n_%s);\n", $1, $1, $1)
		}
		END {
			print "int MPI_Finalize(void) {\n    char path[4096];\n    int rank;\n    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);"
			print "    snprintf(path, sizeof path, \"%s/%d.%d\", getenv(\"SUITE_COUNTS\"), rank, (int)getpid());\n    FILE *f = fopen(path, \"w\");"
			print "    if (f != NULL) {\n" all "        fclose(f);\n    }\n    return PMPI_Finalize();\n}"
		}' "$here/../../observe/mpi/functions.txt" >"$work/counter.body"
	{
		printf '#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n'
		cat "$work/counter.body"
	} >"$work/counter.c"
	"mpicc.$1" -w -shared -fPIC -o "$work/counter.$1.so" "$work/counter.c"
}

# build compiles a program of the folder.
build() { # source, MPI, output
	local compiler=mpicc
	case $1 in
	*.cc | *.cpp) compiler=mpicxx ;;
	*.f90 | *.F90) compiler=mpifort ;;
	esac
	(cd "$folder" && "$compiler.$2" -w -g $flags -o "$3" "$1" -lm -pthread) >"$3.compiler" 2>&1
}

# run runs a command in its own directory, and stores output and exit code there.
run() { # directory, command
	local dir=$1
	shift
	rm -rf "$dir"
	mkdir -p "$dir/in"
	(cd "$dir/in" && exec timeout --kill-after=10 "$limit" "$@" </dev/null >"$dir/out" 2>"$dir/err")
	local code=$?
	[ $code -ne 124 ] && [ $code -ne 137 ] || code="not after $limit s"
	echo "$code" >"$dir/code"
	sort "$dir/out" >"$dir/sorted"
	sed -E 's/[-+]?[0-9]+([.][0-9]*)?([eE][-+]?[0-9]+)?/#/g' "$dir/out" | sort >"$dir/masked"
}

sum() { awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' "$@" | sort; }

# recorded counts calls in a trace.
recorded() { # trace
	slackline profile "$1" --format csv --quiet 2>/dev/null | awk '
		match($0, /(^|\/)MPI_[A-Za-z_]+"?,[a-z_]+,[0-9]+,/) {
			split(substr($0, RSTART, RLENGTH), f, ",")
			sub(/.*\//, "", f[1])
			sub(/"/, "", f[1])
			print f[1], f[3]
		}' | sum
}

compared=0 different=0
table=$work/table
printf 'program\tranks\tMPI\trun\twhat\tplain\tthis run\n' >"$table"
differ() { # program, ranks, MPI, run, what, plain, this run
	different=$((different + 1))
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" >>"$table"
}

# compare compares the runs of one program with its arguments.
compare() { # name, program, MPI, ranks, number of the run, arguments
	local name=$1 program=$2 mpi=$3 ranks=$4 at=$work/runs/$3/$1.$5 how form=sorted
	shift 5
	local command=("mpirun.$mpi" -n "$ranks" "$program" "$@")
	rm -rf "$at" # with -k it may be that of an earlier time
	mkdir -p "$at/counts.1" "$at/counts.2"
	run "$at/plain" "${command[@]}"
	run "$at/again" "${command[@]}"
	for n in 1 2; do
		SUITE_COUNTS=$at/counts.$n LD_PRELOAD_FOR="$work/counter.$mpi.so" run "$at/counted.$n" "mpirun.$mpi" -n "$ranks" \
			sh -c 'LD_PRELOAD=$LD_PRELOAD_FOR exec "$0" "$@"' "$program" "$@"
	done
	run "$at/recorded" slackline record --quiet --out "$at/trace.slt" --force -- "${command[@]}"
	run "$at/injected" slackline inject --quiet --latency "$latency" --sleep on -- "${command[@]}"
	compared=$((compared + 1))
	if ! cmp -s "$at/plain/code" "$at/again/code"; then
		printf 'compare.sh: %s, %s ranks, %s: two plain runs end in different ways (%s, %s); not compared\n' "$name" "$ranks" "$mpi" \
			"$(cat "$at/plain/code")" "$(cat "$at/again/code")" >&2
		compared=$((compared - 1))
		return
	fi
	cmp -s "$at/plain/sorted" "$at/again/sorted" || form=masked
	cmp -s "$at/plain/$form" "$at/again/$form" || form=''
	for how in recorded injected; do
		if ! cmp -s "$at/plain/code" "$at/$how/code"; then
			differ "$name" "$ranks" "$mpi" "$how" 'exit code' "$(cat "$at/plain/code")" "$(cat "$at/$how/code")"
		elif [ -n "$form" ] && ! cmp -s "$at/plain/$form" "$at/$how/$form"; then
			differ "$name" "$ranks" "$mpi" "$how" output \
				"$(comm -23 "$at/plain/$form" "$at/$how/$form" | head -1 | cut -c1-60 | tr -d '\t')" \
				"$(comm -13 "$at/plain/$form" "$at/$how/$form" | head -1 | cut -c1-60 | tr -d '\t')"
		fi
	done
	sum "$at"/counts.1/* >"$at/calls.1" 2>/dev/null
	sum "$at"/counts.2/* >"$at/calls.2" 2>/dev/null
	[ "$(cat "$at/recorded/code")" = "$(cat "$at/plain/code")" ] && [ -s "$at/calls.1" ] || return
	recorded "$at/trace.slt" >"$at/calls.recorded"
	# A function with the same count in both plain runs must have this count in the trace.
	join "$at/calls.1" "$at/calls.2" | awk '$2 == $3 { print $1, $2 }' | join -a 1 -e 0 -o 0,1.2,2.2 - "$at/calls.recorded" |
		awk '$2 != $3' >"$at/calls.differ"
	while read -r function plain trace; do
		differ "$name" "$ranks" "$mpi" recorded "calls of $function" "$plain" "$trace"
	done <"$at/calls.differ"
}

for mpi in $mpis; do
	counter "$mpi" || { echo "compare.sh: mpicc.$mpi does not compile" >&2; exit 1; }
	mkdir -p "$work/programs/$mpi"
	for source in "$folder"/*.c "$folder"/*.cc "$folder"/*.cpp "$folder"/*.f90 "$folder"/*.F90; do
		[ -e "$source" ] || continue
		name=$(basename "${source%.*}")
		program=$work/programs/$mpi/$name
		if ! build "$source" "$mpi" "$program"; then
			printf 'compare.sh: %s: does not compile with mpicc.%s; left out (%s)\n' "$name" "$mpi" "$(grep -m1 -i error "$program.compiler")" >&2
			continue
		fi
		number=0
		while read -r n arguments <&3; do
			[ "$n" != 0 ] || continue
			number=$((number + 1))
			printf 'compare.sh: %s %s, %s ranks, %s\n' "$name" "$arguments" "$n" "$mpi" >&2
			# shellcheck disable=SC2086 # arguments are words
			compare "$name" "$program" "$mpi" "$n" "$number" $arguments
		done 3< <(
			lines=$([ -e "$folder/runs" ] && awk -v name="$name" '$1 == name { $1 = ""; print }' "$folder/runs")
			if [ -n "$lines" ]; then echo "$lines"; else echo "$ranks"; fi
		)
	done
done
[ $different -eq 0 ] || awk -F '\t' '
	{ for (i = 1; i <= 7; i++) { cell[NR, i] = $i == "" ? "-" : $i; if (length(cell[NR, i]) > width[i]) width[i] = length(cell[NR, i]) } }
	END { for (r = 1; r <= NR; r++) for (i = 1; i <= 7; i++) printf i < 7 ? "%-" width[i] "s  " : "%s\n", cell[r, i] }' "$table"
echo "$compared programs with their arguments were compared, $different differences"
[ $compared -gt 0 ] || exit 4
[ $different -eq 0 ] || exit 3
