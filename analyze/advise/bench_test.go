package advise_test

import (
	"testing"
	"time"

	"slackline/analyze/advise"
	"slackline/model/schedule"
)

// BenchmarkSearch looks for advice on 64 ranks and a million calls: halo exchange in a ring, an allreduce now and then, one slow rank.
func BenchmarkSearch(b *testing.B) {
	const ranksOf, calls = 64, 1_000_000
	program := ranks(ranksOf, func(p *program, r int) {
		for k := range calls / ranksOf / 5 {
			work := 20 * us
			if r == 17 {
				work = 30 * us
			}
			p.calc("solve", work)
			for range 2 {
				p.send((r+1)%ranksOf, 1024).recv((r+ranksOf-1)%ranksOf, 1024)
			}
			p.calc("update", 5*us)
			if k%2 == 0 {
				p.collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
			} else {
				p.barrier()
			}
		}
	})
	for b.Loop() {
		r, err := advise.Search(b.Context(), advise.Question{Scenario: on(program), Budget: 30 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Advice) == 0 {
			b.Fatal("no advice")
		}
		b.ReportMetric(float64(r.Tried), "changes")
		b.ReportMetric(float64(r.Left), "left") // for which 30 s were too short
	}
}
