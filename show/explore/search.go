package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// mostMatches is how many matches of each kind a search lists.
const mostMatches = 50

// answerSearch finds functions, call paths, ranks, hosts and communicators by a part of their name.
func answerSearch(_ context.Context, v *view, q *query) (any, error) {
	text := strings.ToLower(strings.TrimSpace(q.values.Get("text")))
	a := &Matches{Matches: []Match{}}
	if text == "" {
		return a, nil
	}
	for _, list := range [][]Match{v.matchFunctions(text), v.matchPaths(text), v.matchRanks(text), v.matchHosts(text), v.matchComms(text)} {
		a.More += max(0, len(list)-mostMatches)
		a.Matches = append(a.Matches, list[:min(len(list), mostMatches)]...)
	}
	return a, nil
}

// matchFunctions finds functions, each with its call paths.
func (v *view) matchFunctions(text string) []Match {
	at := map[string]int{}
	var list []Match
	for path := 1; path < v.paths.Len(); path++ {
		name := v.paths.Region[path].Name
		if !strings.Contains(strings.ToLower(name), text) {
			continue
		}
		i, known := at[name]
		if !known {
			i = len(list)
			at[name] = i
			list = append(list, Match{Kind: "function", Name: name})
		}
		list[i].Paths = append(list[i].Paths, path)
	}
	slices.SortStableFunc(list, func(x, y Match) int { return cmp.Compare(len(x.Name), len(y.Name)) })
	return list
}

func (v *view) matchPaths(text string) []Match {
	if !strings.Contains(text, "/") {
		return nil
	}
	var list []Match
	for path := 1; path < v.paths.Len(); path++ {
		if strings.Contains(strings.ToLower(v.paths.Names[path]), text) {
			list = append(list, Match{Kind: "path", Name: v.paths.Names[path], Paths: []int{path}})
		}
	}
	return list
}

func (v *view) matchRanks(text string) []Match {
	number := strings.TrimSpace(strings.TrimPrefix(text, "rank"))
	rank, err := strconv.Atoi(number)
	if err != nil || rank < 0 || rank >= v.tl.Ranks {
		return nil
	}
	return []Match{{Kind: "rank", Name: fmt.Sprint("rank ", rank), Ranks: fmt.Sprint(rank)}}
}

func (v *view) matchHosts(text string) []Match {
	ranks := map[string][]int32{}
	for i := range v.tl.Locations {
		l := &v.tl.Locations[i]
		if l.Thread == 0 && strings.Contains(strings.ToLower(l.Host), text) && l.Host != "" {
			ranks[l.Host] = append(ranks[l.Host], int32(l.Rank))
		}
	}
	var list []Match
	for host, of := range ranks {
		list = append(list, Match{Kind: "host", Name: host, Ranks: listRanks(of)})
	}
	slices.SortFunc(list, func(x, y Match) int { return cmp.Compare(x.Name, y.Name) })
	return list
}

func (v *view) matchComms(text string) []Match {
	var list []Match
	for i := range v.tl.Comms {
		c := &v.tl.Comms[i]
		if strings.Contains(strings.ToLower(c.Name), text) && c.Name != "" {
			list = append(list, Match{Kind: "communicator", Name: c.Name, Ranks: listRanks(c.Members)})
		}
	}
	return list
}

// listRanks writes ranks as a list that requests take: 0-3,8.
func listRanks(ranks []int32) string {
	sorted := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ranks))), func(r int32) bool { return r < 0 })
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if parts = append(parts, fmt.Sprint(sorted[i])); j > i {
			parts[len(parts)-1] += fmt.Sprint("-", sorted[j])
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// answerOccurrence finds the next or previous call of call paths, and how many there are.
func answerOccurrence(ctx context.Context, v *view, q *query) (any, error) {
	wanted := make([]bool, v.paths.Len())
	for part := range strings.SplitSeq(q.values.Get("paths"), ",") {
		path, err := strconv.Atoi(part)
		if err != nil || path < 0 || path >= len(wanted) {
			q.refuse("paths", "paths: %q is not a list of call paths, as 3,5", shorten(part))
			return nil, q.err
		}
		wanted[path] = true
	}
	ranks := q.ranks("ranks", v.tl.Ranks)
	at := v.tl.Start + unit.Duration(q.number("time", 0, int64(v.length()), 0))
	from := int(q.number("location", -1, int64(len(v.tl.Locations))-1, -1))
	back := q.number("back", 0, 1, 0) == 1
	if q.err != nil {
		return nil, q.err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	found := make([]Occurrence, len(v.tl.Locations))
	parallel.Each(len(found), v.threads, func(location int) {
		found[location].Location = -1
		if ranks == nil || ranks[v.tl.Locations[location].Rank] {
			found[location] = v.occurrence(location, wanted, at, from, back)
		}
	})
	best := Occurrence{Location: -1}
	for i := range found {
		o := &found[i]
		best.Count += o.Count
		later := o.Enter > best.Enter
		if o.Location >= 0 && (best.Location < 0 || later == back && o.Enter != best.Enter || back && o.Enter == best.Enter) {
			o.Count = best.Count
			best = *o
		}
	}
	if best.Location >= 0 {
		before := make([]int64, len(found))
		parallel.Each(len(before), v.threads, func(location int) {
			if ranks == nil || ranks[v.tl.Locations[location].Rank] {
				before[location] = v.callsBefore(location, wanted, v.tl.Start+unit.Duration(best.Enter), best.Location)
			}
		})
		best.Number = 1
		for _, n := range before {
			best.Number += n
		}
	}
	return &best, nil
}

// occurrence is the first call of wanted paths after a place, or the last one before it, by time, then location.
func (v *view) occurrence(location int, wanted []bool, at unit.Duration, from int, back bool) Occurrence {
	c := &v.tl.Locations[location].Calls
	o := Occurrence{Location: -1}
	first := sort.Search(c.Len(), func(i int) bool {
		return c.Enter[i] > at || c.Enter[i] == at && location > from // what comes after the place
	})
	for i, id := range c.Path {
		if !wanted[v.paths.Of[id]] {
			continue
		}
		o.Count++
		after := i >= first
		here := c.Enter[i] == at && location == from
		if back && !after && !here || !back && after && o.Location < 0 {
			o.Location, o.Enter, o.Leave, o.Path = location, v.since(c.Enter[i]), v.since(c.Leave[i]), int(v.paths.Of[id])
		}
	}
	return o
}

// callsBefore counts the calls of wanted paths that begin before a moment, or at it on an earlier location.
func (v *view) callsBefore(location int, wanted []bool, at unit.Duration, from int) int64 {
	c := &v.tl.Locations[location].Calls
	n := int64(0)
	for i, id := range c.Path {
		if c.Enter[i] > at || c.Enter[i] == at && location >= from {
			break
		}
		if wanted[v.paths.Of[id]] {
			n++
		}
	}
	return n
}
