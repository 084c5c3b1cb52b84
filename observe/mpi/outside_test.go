package mpi

import (
	"slices"
	"testing"
)

func TestOutsideJobKeepsSettingsOnly(t *testing.T) {
	keep := []string{
		"PATH=/bin", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_MCA_btl=self,tcp", "OMPI_CC=gcc", "PMIX_MCA_gds=hash", "MPICH_CC=gcc",
		"SLURM_JOB_ID=7", "SLURM_NODELIST=n[1-4]", "SLURM_TASKS_PER_NODE=4(x4)", "HYDRA_HOST_FILE=hosts", "SLACKLINE_MPI=mpich",
	}
	drop := []string{
		"OMPI_COMM_WORLD_RANK=1", "OMPI_MCA_ess=^singleton", "OMPI_MCA_orte_hnp_uri=tcp://host", "OMPI_MCA_ess_base_vpid=1", "PMIX_RANK=1",
		"PMIX_SERVER_URI41=x", "PMI_RANK=1", "PMI_FD=6", "HYDI_CONTROL_FD=7", "MPI_LOCALRANKID=1", "SLURM_PROCID=1", "SLURM_STEP_ID=0",
		"SLURM_STEPID=0", "SLURM_NTASKS=4", "SLURM_CPU_BIND=quiet", JobVariable + "=joined:77",
	}
	before := slices.Concat(keep, drop)
	given := slices.Clone(before)
	if got := OutsideJob(given); !slices.Equal(got, keep) {
		t.Errorf("OutsideJob = %q, want %q", got, keep)
	}
	if !slices.Equal(given, before) {
		t.Error("the environment that was given has changed")
	}
}
