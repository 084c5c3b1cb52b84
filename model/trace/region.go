package trace

import "slackline/model/timeline"

// RegionNamed returns the region of a function as far as its name tells.
func RegionNamed(name string) timeline.Region { return timeline.RegionNamed(name) }

// opNamed returns the collective operation of that name, in lower case and without prefix.
func opNamed(name string) (timeline.Op, bool) { return timeline.OpNamed(name) }

// collectiveOp returns the operation of a collective call, in lower case and without prefix.
func collectiveOp(call string) (timeline.Op, bool) { return timeline.CollectiveOp(call) }
