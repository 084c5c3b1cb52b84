package explore

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// drawUneven draws a run whose calls lie in bunches: pauses between them are short or very long.
func drawUneven(t *rapid.T) *timeline.Timeline {
	ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
	b := timeline.NewBuilder(ranks)
	var regions []timeline.RegionID
	for _, name := range []string{"main", "MPI_Send", "MPI_Allreduce"} {
		regions = append(regions, b.Region(timeline.RegionNamed(name)))
	}
	for rank := range ranks {
		l := b.Location(rank, 0, "", "")
		at := unit.Duration(rapid.Int64Range(0, 3).Draw(t, "begin"))
		l.Enter(at, regions[0])
		for range rapid.IntRange(0, 6).Draw(t, "bunches") {
			at += unit.Duration(1) << rapid.IntRange(0, 12).Draw(t, "pause")
			for range rapid.IntRange(1, 12).Draw(t, "calls") {
				l.Enter(at, regions[rapid.IntRange(1, 2).Draw(t, "region")])
				at += unit.Duration(rapid.Int64Range(0, 3).Draw(t, "length"))
				l.Leave(at)
				at += unit.Duration(rapid.Int64Range(0, 2).Draw(t, "gap"))
			}
		}
		l.Leave(at + 1)
	}
	return b.Finish(1)
}

// divided prepares a run with a layout that is divided where there are more than a few calls.
func divided(tb interface{ Fatal(...any) }, tl *timeline.Timeline) *view {
	ctx := context.Background()
	v, err := newView(ctx, ctx, &Opened{Timeline: tl}, 2)
	if err != nil {
		tb.Fatal(err)
	}
	v.layout = newLayout(v, evenness{few: 4, patch: 4})
	if v.kinds, err = v.colorByKind(ctx); err != nil {
		tb.Fatal(err)
	}
	return v
}

// Pictures and bins of runs whose calls lie in bunches are exact.
func TestPictureOfBunches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := divided(t, drawUneven(t))
		color := rapid.SampledFrom([]string{"kind", "path"}).Draw(t, "color")
		checkIndex(t, v, color)
		from, to, width, first, last, rows := drawWindow(t, v)
		checkPicture(t, v, color, from, to, width, first, last, rows)
	})
}

// Wherever the calls of a location lie, a picture goes through few of them, and there are few bins for each.
func TestLayoutIsEven(t *testing.T) {
	const ranks, columns = 3, 1024
	for _, d := range distributions {
		tl := distribute(syntheticRun(ranks, 200_000), d.at)
		v := viewOf(t, tl, false)
		for location := range ranks {
			enter := tl.Locations[location].Calls.Enter
			if bins := v.layout.size(location); bins > 8*len(enter) {
				t.Errorf("%s: %d bins for %d calls", d.name, bins, len(enter))
			}
			for width := v.length(); width > 1000; width = width * 2 / 3 {
				from := min(max(enter[len(enter)/3]-tl.Start-width/2, 0), v.length()-width)
				p := &picture{}
				bins := v.kinds.choose(p, from, from+width, columns)
				walked := 0
				count := func(from, to int) {
					begin := tl.Start + p.from + unit.Duration(from)*p.step
					end := begin + unit.Duration(to-from)*p.step
					walked += int(firstAfter(&tl.Locations[location].Calls, end) - firstAfter(&tl.Locations[location].Calls, begin))
				}
				if bins == direct {
					count(0, p.columns)
				} else {
					v.kinds.index.look(bins, location, int(p.from>>bins), make([]uint16, p.columns), count)
				}
				if walked > 2*columns {
					t.Errorf("%s: a picture of %d columns from %d on goes through %d calls", d.name, p.columns, from, walked)
				}
			}
		}
	}
}
