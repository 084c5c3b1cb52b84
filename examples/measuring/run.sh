#!/bin/sh
# Runs the measurements of docs/studies/measuring.md: run.sh [DIRECTORY]. Results and figures go to the directory (default: measuring).
# It takes about five minutes; keep the machine quiet. SLACKLINE names the binary (default: slackline in PATH).
set -u
slackline=${SLACKLINE:-slackline}
out=${1:-measuring}
mkdir -p "$out" && cd "$out" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# part FILE ARGUMENTS: runs slackline and keeps its output, warnings first. A rejected measurement is also a result.
part() {
	file=$1
	shift
	echo "$file: slackline $*"
	"$slackline" "$@" --quiet >"$file.txt" 2>&1 || echo "  rejected or failed, see $file.txt"
}

# Noise: the same CPU twice, all CPUs at once, and in equal time intervals.
part noise-1 measure noise --time 10s --profile profile.txt
part noise-2 measure noise --time 10s
part noise-plot measure noise --time 2s --plot noise.png
part noise-all measure noise --time 10s --cpus all
part noise-ftq measure noise --method ftq --quantum 1ms --time 8s
part noise-fwq measure noise --method fwq --quantum 1ms --time 5s
part noise-at-scale simulate dissemination --ranks 2^4..2^14 --size 1B --machine cscs-testbed --noise profile.txt --replicas 10

# Network: each link twice.
for mpi in openmpi mpich; do
	part "network-$mpi-1" measure network --mpi $mpi --max-size 64KiB --machine-file $mpi.yaml --plot network-$mpi.svg
	part "network-$mpi-2" measure network --mpi $mpi --max-size 64KiB
done
part network-tcp-1 measure network --tcp self --max-size 64KiB
part network-tcp-2 measure network --tcp self --max-size 64KiB

# Clocks: true errors of injected offsets and drifts, also 10 s later; figures.
part clocks-2 measure clocks --ranks 2 --inject offset=5s,drift=100,seed=1 --wait 10s --plot clocks-drift.svg --figure drift
part clocks-4 measure clocks --ranks 4 --inject offset=5s,drift=100,seed=2 --wait 10s --plot clocks-choice.svg --figure choice
part clocks-8 measure clocks --ranks 8 --inject offset=5s,drift=100,seed=3 --wait 1s --plot clocks-times.svg --figure times
part clocks-mpich measure clocks --mpi mpich --ranks 4 --inject offset=5s,drift=100,seed=4 --wait 1s --plot clocks-trips.svg --figure round-trips

# Collectives: an operation of known duration by all schemes; more ranks than CPUs; launches; the full table.
for mpi in openmpi mpich; do
	part "known-$mpi" measure collectives --mpi $mpi --operation spin:200us --scheme round-time,window,skampi,imb,mpptest,mpbench
	part "crowded-$mpi" measure collectives --mpi $mpi --operation sleep:200us,spin:200us --ranks 4,8,16 --repeat 30 --launches 2 --budget 300ms
	part "launches-$mpi" measure collectives --mpi $mpi --operation bcast,allreduce,iallreduce,bcast_binary_tree --launches 10 --format json --out launches-$mpi.json --raw launches-$mpi.csv
	part "again-$mpi" measure collectives --mpi $mpi --operation bcast,allreduce,iallreduce,bcast_binary_tree --launches 10 --format json --out again-$mpi.json
	part "compare-$mpi" compare launches-$mpi.json again-$mpi.json
	part "table-$mpi" measure collectives --mpi $mpi --operation usual --sizes 8,1KiB,8KiB,64KiB --launches 1
	part "memory-$mpi" measure memory --mpi $mpi --ranks 2,4,8
done

# Simulated, because it cannot be measured here: the schemes at scale, and both ways of comparing clocks.
part schemes-bcast measure schemes --operation bcast --ranks 2^1..2^12 --machine cscs-testbed --plot schemes-bcast.svg
part schemes-allreduce measure schemes --operation allreduce --ranks 2^1..2^12 --machine cscs-testbed --plot schemes-allreduce.svg
part clocks-tree simulate clocks-tree --ranks 128 --machine cscs-testbed
part clocks-linear simulate clocks-linear --ranks 128 --machine cscs-testbed
echo "results are in $out"
