package simulate

import "context"

func (r *run) leanFits() bool                               { return false }
func (r *run) runLean(ctx context.Context) (*Result, error) { return nil, errNotApplicable }
