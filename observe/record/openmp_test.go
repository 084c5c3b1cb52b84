package record

import (
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestOpenMP wants the parallel regions, their threads and barriers, by GCC's runtime and by LLVM's.
func TestOpenMP(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, compiler := range []string{"gcc", "clang"} {
			t.Run(compiler, func(t *testing.T) {
				needed.Tool(t, compiler)
				program := mpitest.BuildWith(t, l, compiler, "testdata/openmp.c", "-O2", "-g", "-fopenmp")
				r := recorded(t, sampled(append(mpitest.Launch(l, 1), program)...))
				checkTeams(t, r)
			})
		}
	})
}

func checkTeams(t *testing.T, r *recording) {
	t.Helper()
	if len(r.Locations) != 2 {
		t.Fatalf("locations = %d, want 2: %v", len(r.Locations), r.Locations)
	}
	for i := range r.Locations {
		kinds := map[trace.Kind]int{}
		regions := map[string]int{}
		depth, waited := 0, map[string]int64{}
		var entered []int64
		for _, e := range r.events(t, i) {
			kinds[e.Kind]++
			switch e.Kind {
			case trace.Enter:
				regions[r.Regions[e.Region].Name]++
				if from := r.path(e.Stack); i == 0 && r.Regions[e.Region].Role == timeline.Parallel && from != "main/kernel" {
					t.Errorf("a parallel region is called from %q, want main/kernel", from)
				}
				entered = append(entered, e.Time)
				depth++
			case trace.Leave:
				depth--
				waited[r.Regions[e.Region].Name] += e.Time - entered[depth]
				entered = entered[:depth]
			}
		}
		if depth != 0 {
			t.Errorf("thread %d: %d calls are open at the end", i, depth)
		}
		want := 0
		if i == 0 {
			want = 10
		}
		if kinds[trace.Fork] != want || kinds[trace.Join] != want || kinds[trace.TeamBegin] != 10 || kinds[trace.TeamEnd] != 10 {
			t.Errorf("thread %d: fork, join, begin, end = %d, %d, %d, %d, want %d, %d, 10, 10", i,
				kinds[trace.Fork], kinds[trace.Join], kinds[trace.TeamBegin], kinds[trace.TeamEnd], want, want)
		}
		parallel := 0
		for name, n := range regions {
			if strings.HasPrefix(name, "!$omp parallel @kernel") {
				parallel += n
			}
		}
		if parallel != 10 || regions["!$omp barrier"] != 10 || regions["!$omp implicit barrier"] != 10 {
			t.Errorf("thread %d: regions = %v, want 10 parallel regions, barriers and implicit barriers", i, regions)
		}
	}
}
