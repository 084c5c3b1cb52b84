package check

import (
	"testing"

	"slackline/analyze/scaling"
)

// A check that another verb makes has the defaults of the flags: campaign once judged by no method and no aggregate.
func TestNewOptions(t *testing.T) {
	o := NewOptions()
	if got := o.Method.Analysis(); got.Method != scaling.Evidence || got.Aggregate != scaling.Auto {
		t.Errorf("method %d, aggregate %d, want those of a call without flags", got.Method, got.Aggregate)
	}
	if o.tolerance != 0.05 || o.result.Format != "text" {
		t.Errorf("tolerance %g, format %q", o.tolerance, o.result.Format)
	}
}
