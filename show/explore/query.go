package explore

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// query reads the parameters of a request. The first error is kept and becomes the answer; a value that is wrong is replaced by its
// default. Those who compute for long look at the error before.
type query struct {
	values url.Values
	other  *view // a second input, of questions about two
	err    error
}

// newQuery parses the text after the question mark. Unknown parameters, and those given twice, are errors.
func newQuery(text string, known []string) (*query, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, &failure{http.StatusBadRequest, Error{Error: "the address cannot be read: " + err.Error(), Code: "bad_request"}}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			return nil, badRequest(name, "there is no parameter %q%s", name, suggest.Phrase(name, known))
		case len(values[name]) > 1:
			return nil, badRequest(name, "%s is given %d times; give it once", name, len(values[name]))
		}
	}
	return &query{values: values}, nil
}

func badRequest(name, format string, args ...any) error {
	return &failure{http.StatusBadRequest, Error{Error: fmt.Sprintf(format, args...), Code: "bad_request", Parameter: name}}
}

func (q *query) refuse(name, format string, args ...any) {
	if q.err == nil {
		q.err = badRequest(name, format, args...)
	}
}

// given reports whether a parameter is given.
func (q *query) given(name string) bool { return q.values.Has(name) }

// number reads a whole number from low to high.
func (q *query) number(name string, low, high, otherwise int64) int64 {
	if !q.given(name) {
		return otherwise
	}
	text := q.values.Get(name)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < low || v > high || text[0] == '+' {
		q.refuse(name, "%s: %q is not a whole number from %d to %d", name, shorten(text), low, high)
		return otherwise
	}
	return v
}

// word reads one of several words.
func (q *query) word(name string, allowed []string, otherwise string) string {
	if !q.given(name) {
		return otherwise
	}
	text := q.values.Get(name)
	if !slices.Contains(allowed, text) {
		q.refuse(name, "%s: %q is not one of %s", name, shorten(text), strings.Join(allowed, ", "))
		return otherwise
	}
	return text
}

// shorten cuts what a client sent to what an error may repeat.
func shorten(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// span reads a range of time, cut to the whole length of the run.
func (q *query) span(whole unit.Duration) (from, to unit.Duration) {
	from = unit.Duration(q.number("from", 0, math.MaxInt64, 0))
	to = unit.Duration(q.number("to", 0, math.MaxInt64, int64(whole)))
	switch {
	case q.err != nil:
	case from >= to:
		q.refuse("to", "the range from %d to %d is empty; to must be greater than from", from, to)
	case from >= whole:
		q.refuse("from", "from: %d is after the end of the run; it lasts %d ps", from, whole)
	}
	if q.err != nil {
		return 0, whole
	}
	return from, min(to, whole)
}

// locations reads a range of locations.
func (q *query) locations(all int) (first, last int) {
	first = int(q.number("first", 0, max(int64(all)-1, 0), 0))
	last = int(q.number("last", 1, int64(all), int64(all)))
	if q.err == nil && first >= last {
		q.refuse("last", "the range of locations from %d to %d is empty; last must be greater than first", first, last)
	}
	if q.err != nil {
		return 0, all
	}
	return first, last
}

// rows are the locations that are asked for: those from first to last of all, or with ranks of theirs.
type rows struct {
	first, last int
	list        []int  // locations, in order; nil: all
	is          []bool // by location, whether it is asked for; nil without a list
}

// rows reads a range of rows, or of those of some ranks.
func (q *query) rows(v *view) rows {
	all := v.tl.Locations
	chosen := q.ranks("ranks", v.tl.Ranks)
	if chosen == nil && v.order == nil {
		first, last := q.locations(len(all))
		return rows{first: first, last: last}
	}
	r := rows{list: []int{}, is: make([]bool, len(all))}
	for row := range all {
		location := row
		if v.order != nil {
			location = v.order[row]
		}
		if chosen == nil || chosen[all[location].Rank] {
			r.list = append(r.list, location)
		}
	}
	r.first, r.last = q.locations(len(r.list))
	for _, location := range r.list[r.first:r.last] {
		r.is[location] = true
	}
	return r
}

// at is the location of a row.
func (r *rows) at(row int) int {
	if r.list == nil {
		return row
	}
	return r.list[row]
}

// has reports whether a location is among the rows.
func (r *rows) has(location int) bool {
	if r.list == nil {
		return location >= r.first && location < r.last
	}
	return r.is[location]
}

// limit reads how many things are to be listed at most.
func (q *query) limit(otherwise int64) int {
	return int(q.number("limit", 1, MaxList, otherwise))
}
