package explore

import "context"

// answerPhases lists the phases of a run: the calls of its first location at the outermost level that has more than one.
func answerPhases(_ context.Context, v *view, _ *query) (any, error) {
	a := &Phases{List: []Phase{}}
	if len(v.tl.Locations) == 0 {
		return a, nil
	}
	c := &v.tl.Locations[0].Calls
	for first, end := int32(0), int32(c.Len()); first < end; {
		a.List, a.Cut = a.List[:0], false
		for i := first; i < end; i = c.Skip[i] {
			if a.Cut = len(a.List) == MaxList; a.Cut {
				break
			}
			a.List = append(a.List, Phase{Path: int(v.paths.Of[c.Path[i]]), Begin: v.since(c.Enter[i]), Duration: int64(c.Leave[i] - c.Enter[i])})
		}
		if len(a.List) > 1 {
			break
		}
		first, end = first+1, c.Skip[first]
	}
	return a, nil
}
