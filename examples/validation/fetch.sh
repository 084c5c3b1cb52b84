#!/bin/sh
# Fetches and builds the applications of docs/studies/validation.md in a folder and writes the list for apps.sh, with the problems of
# that page. Nothing of them is part of slackline; each has its own license.
#
#     examples/validation/fetch.sh apps
#     examples/validation/apps.sh apps/list
#
# Needs git, compilers for C, C++ and Fortran, and mpicc.NAME, mpicxx.NAME and mpif90.NAME of each MPI library.
# Variables: MPIS, PROGRAMS (default: all), FROM (where the repositories are), FLAGS of the compilers.
set -eu
: "${MPIS:=openmpi mpich}" "${PROGRAMS:=comd minife hpcg cloverleaf miniamr lulesh}" "${FROM:=https://github.com}" "${FLAGS:=-O2}"
mkdir -p "$1"
cd "$1"

# clone OWNER/NAME: the repository, unless it is there
clone() { [ -d "$(basename "$1")" ] || git clone --quiet --depth 1 "$FROM/$1"; }

comd() {
	clone ECP-copa/CoMD
	(
		cd CoMD/src-mpi
		for name in VARIANT HOSTNAME KERNEL_NAME KERNEL_RELEASE PROCESSOR BUILD_DATE COMPILER COMPILER_VERSION CFLAGS LDFLAGS; do
			echo "#define CoMD_$name \"\""
		done >CoMD_info.h
		"mpicc.$mpi" $FLAGS -std=c99 -D_XOPEN_SOURCE=600 -DDO_MPI -DDOUBLE -I. ./*.c -o "$bin/comd" -lm
	)
	echo "comd 2 CoMD bin/{mpi}/comd -x 8 -y 8 -z 8 -i 2 -N 120"
}

minife() {
	clone Mantevo/miniFE
	(
		cd miniFE/ref/src
		touch miniFE_info.hpp
		./generate_info_header "mpicxx.$mpi" "$FLAGS" miniFE MINIFE >/dev/null
		"mpicxx.$mpi" $FLAGS -I. -I../utils -I../fem -DHAVE_MPI -DMPICH_IGNORE_CXX_SEEK -DMINIFE_SCALAR=double -DMINIFE_LOCAL_ORDINAL=int \
			-DMINIFE_GLOBAL_ORDINAL=int -DMINIFE_CSR_MATRIX ./*.cpp ../utils/*.cpp -o "$bin/minife"
	)
	echo "minife 2 . bin/{mpi}/minife -nx 40 -ny 40 -nz 40"
}

hpcg() {
	clone hpcg-benchmark/hpcg
	"mpicxx.$mpi" $FLAGS -DHPCG_NO_OPENMP -Ihpcg/src hpcg/src/*.cpp -o "$bin/hpcg"
	echo "hpcg 2 . bin/{mpi}/hpcg --nx=24 --ny=24 --nz=24 --rt=0"
}

cloverleaf() {
	clone UK-MAC/CloverLeaf_ref
	(
		cd CloverLeaf_ref
		make clean >/dev/null
		make COMPILER=GNU "MPI_COMPILER=mpif90.$mpi" "C_MPI_COMPILER=mpicc.$mpi" OMP_GNU= OMP= IEEE=1 OPTIONS=-w >/dev/null
		mv clover_leaf "$bin/cloverleaf"
		sed -i 's/^ *x_cells=.*/ x_cells=192/; s/^ *y_cells=.*/ y_cells=192/; s/^ *end_step=.*/ end_step=100/' clover.in
	)
	echo "cloverleaf 2 CloverLeaf_ref bin/{mpi}/cloverleaf"
}

miniamr() {
	clone Mantevo/miniAMR
	"mpicc.$mpi" $FLAGS -w -fcommon miniAMR/ref/*.c -o "$bin/miniamr" -lm
	echo "miniamr 2 . bin/{mpi}/miniamr --npx 2 --nx 8 --ny 8 --nz 8 --num_vars 4 --num_tsteps 20"
}

# LULESH needs a cube of ranks.
lulesh() {
	clone LLNL/LULESH
	"mpicxx.$mpi" $FLAGS -DUSE_MPI=1 LULESH/*.cc -o "$bin/lulesh"
	echo "lulesh 8 . bin/{mpi}/lulesh -s 6 -i 60"
}

: >list
for program in $PROGRAMS; do
	for mpi in $MPIS; do
		mkdir -p "bin/$mpi"
		bin=$(realpath "bin/$mpi")
		line=$($program)
		echo "$program for $mpi" >&2
	done
	echo "$line" >>list
done
