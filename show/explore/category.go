package explore

import (
	"context"
	"fmt"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
)

// The colorings, in the order of their numbers in binary answers.
const (
	colorKind = iota
	colorPath
	colorWait
	colorCause
)

var colors = []string{"kind", "path", "wait", "cause"}

// Categories of kind, wait and cause.
const (
	firstWait  = 16  // categories below are kinds of activity
	mostCauses = 200 // that have a category of their own
	otherCause = firstWait + mostCauses
	noCause    = otherCause + 1
	maxPath    = 1<<16 - 1 // category of all call paths from this number on
)

// colorByKind colors by kind of activity.
func (v *view) colorByKind(ctx context.Context) (*coloring, error) {
	c := &coloring{v: v, categories: firstWait, shades: v.kindShades()}
	var err error
	c.index, err = buildIndex[uint8](ctx, c)
	return c, err
}

// kindShades are the kinds of activity of call paths.
func (v *view) kindShades() shades {
	s := shades{of: make([]uint16, len(v.tl.Paths)), none: uint16(profile.Outside)}
	s.of[0] = s.none
	for id := 1; id < len(s.of); id++ {
		s.of[id] = uint16(profile.KindOf(&v.tl.Regions[v.tl.Paths[id].Region]))
	}
	v.shadeActivities(&s)
	return s
}

// colorByPath colors by call path.
func (v *view) colorByPath() (*coloring, error) {
	c := &coloring{v: v, categories: min(v.paths.Len(), maxPath+1), shades: shades{of: make([]uint16, len(v.tl.Paths))}}
	for id := range c.shades.of {
		c.shades.of[id] = uint16(min(v.paths.Of[id], maxPath))
	}
	var err error
	if c.categories <= 1<<8 {
		c.index, err = buildIndex[uint8](v.context, c)
	} else {
		c.index, err = buildIndex[uint16](v.context, c)
	}
	return c, err
}

// coloring returns the coloring of a name.
func (v *view) coloring(ctx context.Context, color string) (*coloring, error) {
	if v.tl == nil {
		return nil, errNoRun
	}
	switch color {
	case colors[colorKind]:
		return v.kinds, nil
	case colors[colorPath]:
		return v.byPath.get(v.colorByPath)
	}
	a, err := v.analyzed(ctx)
	if err != nil {
		return nil, err
	}
	if color == colors[colorWait] {
		return a.byWait, nil
	}
	return a.byCause, nil
}

// answerLegend gives the meaning of the categories.
func answerLegend(ctx context.Context, v *view, q *query) (any, error) {
	color := q.word("color", colors, colors[colorKind])
	legend := &Legend{Color: color, Generation: v.generation}
	if color == colors[colorPath] {
		legend.Categories = v.pathCategories()
		return legend, nil
	}
	legend.Categories = kindCategories()
	if v.run.Devices != nil {
		legend.Categories = append(legend.Categories, activityCategories...)
	}
	if color == colors[colorKind] {
		return legend, nil
	}
	a, err := v.analyzed(ctx)
	if err != nil {
		return nil, err
	}
	if color == colors[colorWait] {
		legend.Categories = append(legend.Categories, waitCategories(a.result)...)
	} else {
		legend.Categories = append(legend.Categories, a.causeCategories(v)...)
	}
	return legend, nil
}

// classOf is how a kind of activity is colored.
func classOf(k profile.Kind) (class string, slot int) {
	switch k {
	case profile.Computation:
		return "computation", 0
	case profile.PointToPoint, profile.Collective, profile.FileIO, profile.OneSided, profile.InitExit, profile.OtherMPI:
		return "communication", int(k - profile.PointToPoint)
	case profile.OpenMP, profile.Noise, profile.Recording:
		return "runtime", int(k - profile.OpenMP)
	case profile.NoCPU:
		return "runtime", 3
	case profile.NotRecorded:
		return "outside", 1
	}
	return "outside", 0
}

func kindCategories() []Category {
	var list []Category
	for k := profile.Computation; k <= profile.NoCPU; k++ {
		if k == profile.Waiting { // waits have categories of their own
			continue
		}
		class, slot := classOf(k)
		list = append(list, Category{ID: int(k), Name: k.String(), Title: k.Title(), Class: class, Slot: slot, Kind: k.String(), Rank: -1})
	}
	return list
}

// pathCategories are the call paths. Those of the same function have the same slot.
func (v *view) pathCategories() []Category {
	type function struct{ class, name string }
	slots := map[function]int{}
	used := map[string]int{}
	var list []Category
	for path := range min(v.paths.Len(), maxPath+1) {
		kind := v.kindOfPath(path)
		class, _ := classOf(kind)
		region := &v.paths.Region[path]
		f := function{class, region.Name}
		slot, known := slots[f]
		if !known {
			slot = used[class]
			slots[f], used[class] = slot, slot+1
		}
		title := v.paths.Say(int32(path))
		if path == maxPath {
			title = "other call paths"
		}
		list = append(list, Category{
			ID: path, Name: v.paths.Names[path], Title: title, Class: class, Slot: slot, Kind: kind.String(),
			Path: path, Parent: int(v.paths.Parent[path]), Rank: -1,
		})
	}
	return list
}

// kindOfPath is the kind of activity of a call path by its number.
func (v *view) kindOfPath(path int) profile.Kind {
	if path == 0 {
		return profile.Outside
	}
	return profile.KindOf(&v.paths.Region[path])
}

// waitCategories are the kinds of wait states that occur.
func waitCategories(r *waits.Result) []Category {
	var list []Category
	for m := range waits.None {
		if m.IsPart() || r.Totals.ByMetric[m].Amount.Sign() == 0 {
			continue
		}
		list = append(list, Category{
			ID: firstWait + int(m), Name: m.String(), Title: m.Info().Title, Class: "wait", Slot: int(m), Metric: m.String(), Rank: -1,
			Light: m.Info().Color.Light, Dark: m.Info().Color.Dark,
		})
	}
	return list
}

// causeCategories are the causes that have a category, and the two for the rest.
func (a *findings) causeCategories(v *view) []Category {
	var list []Category
	for i, c := range a.ranked[:min(len(a.ranked), mostCauses)] {
		list = append(list, Category{
			ID: firstWait + i, Name: fmt.Sprintf("rank %d: %s", c.Rank, v.paths.Names[c.Path]),
			Title: fmt.Sprintf("rank %d in %s", c.Rank, v.paths.Say(c.Path)), Class: "cause", Slot: i,
			Path: int(c.Path), Rank: c.Rank, Cost: ps(c.Sum()),
		})
	}
	return append(list,
		Category{ID: otherCause, Name: "other", Title: "other causes", Class: "cause", Slot: mostCauses, Rank: -1},
		Category{ID: noCause, Name: "unknown", Title: "cause unknown", Class: "cause", Slot: mostCauses + 1, Rank: -1},
	)
}
