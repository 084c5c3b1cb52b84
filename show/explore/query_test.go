package explore

import (
	"errors"
	"net/http"
	"testing"

	"slackline/model/unit"
)

// Whatever stands in an address: it is refused as a bad request, or what comes out can be answered.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "from=0&to=10", "from=-1", "from=5&to=3", "first=2&last=4&rows=7&width=9", "color=cause", "limit=99999999", "from=NaN&to=Inf",
		"from=9223372036854775807", "from=%00", "%", "from=1;to=2", "a=b&a=c", "from=1&from=2", "to=00000000000000000000007", "width=٣",
	} {
		f.Add(seed, int64(1000), 8)
	}
	f.Fuzz(func(t *testing.T, text string, length int64, locations int) {
		if length < 1 || locations < 1 {
			return
		}
		q, err := newQuery(text, endpoints["timeline"].parameters)
		if err == nil {
			from, to := q.span(unit.Duration(length))
			first, last := q.locations(locations)
			width, rows := q.number("width", 1, MaxWidth, 10), q.number("rows", 1, MaxRows, 10)
			color := q.word("color", colors, "kind")
			if q.err == nil && (from < 0 || from >= to || int64(to) > length || first < 0 || first >= last || last > locations ||
				width < 1 || width > MaxWidth || rows < 1 || rows > MaxRows || color == "") {
				t.Fatalf("%q: %d..%d, locations %d..%d, %d x %d, %q", text, from, to, first, last, width, rows, color)
			}
			err = q.err
		}
		if err == nil {
			return
		}
		var refused *failure
		if !errors.As(err, &refused) || refused.status != http.StatusBadRequest || refused.answer.Error == "" {
			t.Fatalf("%q: %v is no bad request", text, err)
		}
	})
}
