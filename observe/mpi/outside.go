package mpi

import (
	"slices"
	"strings"
)

// What launchers pass to their processes about the job. Settings of the user, such as OMPI_MCA_btl, OMPI_CC or
// SLURM_JOB_ID, which a batch script has as well, are not among them.
var (
	jobPrefixes = []string{
		"PMI_", "PMI2_", "PMIX_", "HYDI_", // of all that use PMI, and of Hydra
		"OMPI_COMM_WORLD_", "OMPI_MCA_ess", "OMPI_MCA_orte_ess_", "PRTE_LAUNCHED",
		"SLURM_STEP", "SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_SRUN_", "SLURM_PMI",
	}
	jobVariables = []string{
		JobVariable,
		"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "GFORTRAN_UNBUFFERED_PRECONNECTED",
		"OMPI_APP_CTX_NUM_PROCS", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_FILE_LOCATION", "OMPI_FIRST_RANKS", "OMPI_NUM_APP_CTX",
		"OMPI_UNIVERSE_SIZE", "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_pmix", "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
		"OMPI_MCA_orte_app_num", "OMPI_MCA_orte_bound_at_launch", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_jobfam_session_dir",
		"OMPI_MCA_orte_launch", "OMPI_MCA_orte_local_daemon_uri", "OMPI_MCA_orte_num_nodes", "OMPI_MCA_orte_num_restarts",
		"OMPI_MCA_orte_precondition_transports", "OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_orte_top_session_dir",
		"OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy", // --bind-to and --map-by of this job
		"HFI_NO_BACKTRACE", "IPATH_NO_BACKTRACE",
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_MPI_TYPE",
		"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_DISTRIBUTION",
	}
)

// jobSettings starts what looks like a variable of a launcher, but is a setting of the user.
const jobSettings = "PMIX_MCA_"

// OutsideJob returns an environment without what a launcher passed to this process about its job, for programs that are
// no part of it: they may start jobs of their own.
func OutsideJob(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, jobSettings) {
			return false
		}
		return slices.Contains(jobVariables, name) ||
			slices.ContainsFunc(jobPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}
