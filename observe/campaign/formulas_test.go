package campaign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A formula without a finite value, or with half a process, is refused with its place when the plan is read.
func TestFormulasHaveValues(t *testing.T) {
	const head = "parameters: {p: \"1, 2, 3\", n: \"8, 16\"}\n"
	for _, tc := range []struct{ text, want string }{
		{"command: ./x {n} {n/p} {1/p}", ""},
		{"command: ./x {p/0}", ":2:"},
		{"command: ./x {n/(p-2)}", "at p = 2, n = 8"},
		{"command: ./x {n % (p-1)}", ":2:"},
		{"command: ./x {(0-n)^0.5}", ":2:"},
		{"command: ./x {n^1000}", ":2:"},
		{"command: ./x\nlaunch: mpirun -n {p/2} {command}", ":3:"},
		{"command: ./x\nlaunch: mpirun -n {2*p} {command}", ""},
		{"command: ./x\nlaunch: srun --ntasks={p/2} {command}", ":3:"},
		{"command: mpirun -n {p-1} ./x", "is 0 at p = 1"},
		{"command: ./x\nenvironment: {A: \"{n/(p-1)}\"}", ":3:"},
		{"command: ./x\ncores: p/2", "whole number"},
		{"command: ./x\nlaunch: sbatch\nbatch: {options: [\"--nodes={p/2}\"]}", ":4:"},
		{"command: ./x\nmetrics: [{output: csv, file: \"{dir}/{n/(p-1)}\"}]", ":3:"},
		{"command: ./x\nonly: n/(p-1) < 5", "only"},
		{"command: ./x {n/(p-1)}\nonly: p > 1 and n/(p-1) > 5", ""},
		{"command: ./x {n/(p-1)}\nonly: p > 1", ""},
	} {
		_, err := parsePlan("plan.yaml", []byte(head+tc.text+"\n"))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

// Whole numbers that fit into 64 bits are printed as such.
func TestLargeNumbers(t *testing.T) {
	if text := decimal(1 << 60); text != "1152921504606846976" {
		t.Errorf("decimal(2^60) = %s", text)
	}
}

// The reason of a failure is what the program itself said last.
func TestLastWords(t *testing.T) {
	const box = "--------------------------------------------------------------------------\n"
	for _, tc := range []struct{ name, stderr, stdout, command, want string }{
		{"plain", "a\nno luck\n", "fine\n", "", "no luck"},
		{"open mpi", "matrix is singular\n" + box + "Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n" +
			box + box +
			"mpirun detected that one or more processes exited with non-zero status\n\n  Exit code:    3\n" + box, "step 1\n", "",
			"matrix is singular"},
		{"open mpi, two ranks abort", "bad input\n" + box + "MPI_ABORT was invoked on rank 1\n" + box +
			"[n1:26391] 1 more process has sent help message help-mpi-api.txt / mpi-abort\n" +
			"[n1:26391] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error messages\n" +
			"[n1:26391] [[2978,0],0] ORTE_ERROR_LOG: Out of resource in file show_help.c at line 507\nmpirun.openmpi: Forwarding signal 18 to job\n",
			"step 1\n", "", "bad input"},
		{"open mpi, an error in MPI", "[n1:27] *** An error occurred in MPI_Send\n[n1:27] *** reported by process [5046273,0]\n" +
			"[n1:27] *** on communicator MPI_COMM_WORLD\n[n1:27] *** MPI_ERR_RANK: invalid rank\n" +
			"[n1:27] *** MPI_ERRORS_ARE_FATAL (processes\n" +
			"[n1:27] ***    and potentially your MPI job)\n", "step 1\n", "", "[n1:27] *** MPI_ERR_RANK: invalid rank"},
		{"open mpi, a signal", "[n1:27] *** Process received signal ***\n[n1:27] Signal: Segmentation fault (11)\n" +
			"[n1:27] Signal code: Address not mapped (1)\n[n1:27] Failing at address: (nil)\n" +
			"[n1:27] [ 0] /lib/libc.so.6(+0x3c050)[0x7fad84398050]\n" +
			"[n1:27] *** End of error message ***\n", "step 1\n", "", "[n1:27] Signal: Segmentation fault (11)"},
		{"hydra", "matrix is singular\n\n====================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 3\n" +
			"====================\n" +
			"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n", "", "", "matrix is singular"},
		{"abort", "bad input\nAbort(3) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 0\n", "", "",
			"bad input"},
		{"slurm", "bad input\nslurmstepd: error: *** STEP 1.0 ON n1 CANCELLED\nsrun: error: n1: task 0: Exited with exit code 3\n", "", "",
			"bad input"},
		{"slurm, with a reason", "step 1\nslurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-19T08:09:26 DUE TO TIME LIMIT ***\n" +
			"srun: error: n1: task 0: Terminated\nbye\n", "", "",
			"slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-19T08:09:26 DUE TO TIME LIMIT ***"},
		{"standard output", box + "mpirun noticed\n" + box, "step 1\nresidual is NaN\n", "", "residual is NaN"},
		{"recorded", "bad input\nslackline: wrote trace: 3 events\n", "", "slackline record -- x", "bad input"},
		{"slackline itself", "slackline: x.goal: no such file\n", "", "slackline simulate x.goal", "slackline: x.goal: no such file"},
		{"launcher only", "srun: error: n1: no such node\n", "", "", "srun: error: n1: no such node"},
		{"one rule", "title\n" + box + "no luck\n", "", "", "no luck"},
		{"progress", "10 %\r20 %\rno luck\r\n", "", "", "no luck"},
		{"nothing", "", "", "", ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{stderrFile: tc.stderr, stdoutFile: tc.stdout} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := lastWords(dir, "slackline", strings.Fields(tc.command)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
