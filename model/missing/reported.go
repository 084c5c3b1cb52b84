package missing

import "errors"

// Reported is what results of profile and waits, of all versions, say of the time of their run, and of what is missing of it.
type Reported struct {
	Time       *float64 `json:"time_s"`
	LeftBefore float64  `json:"left_out_before_s"` // of the start of MPI
	LeftAfter  float64  `json:"left_out_after_s"`  // of its end
	KeptBefore float64  `json:"kept_before_s"`
	KeptAfter  float64  `json:"kept_after_s"`
	OfRanks    float64  `json:"ranks"` // as many were in the run
	Parts

	NotRecorded float64 `json:"not_recorded_s"` // of all locations: before there was a share
	Locations   int     `json:"locations"`
}

// Complete takes what older versions said elsewhere, and refuses what no run is. The wait states that depend on each other in circles
// were among the totals.
func (r *Reported) Complete(circles int) error {
	if r.Time == nil {
		return errors.New("the result does not say how long its run took")
	}
	if !(min(*r.Time, r.LeftBefore, r.LeftAfter, r.KeptBefore, r.KeptAfter, r.NotRecorded) >= 0) {
		return errors.New("a time of the run is below 0")
	}
	if lifetimes := *r.Time * float64(max(r.Locations, 1)); r.Off == 0 && r.NotRecorded > 0 && lifetimes > 0 {
		r.Off = min(r.NotRecorded/lifetimes, 1)
	}
	r.Circles = max(r.Circles, circles)
	return r.Parts.Check()
}

// Kept is how long the start and the end of MPI in the run time are, in seconds.
func (r *Reported) Kept() float64 { return r.KeptBefore + r.KeptAfter }

// Left reports whether the start and the end of MPI are left out.
func (r *Reported) Left() bool { return r.LeftBefore+r.LeftAfter > 0 }
