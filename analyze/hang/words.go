package hang

import (
	"fmt"
	"strings"
)

// mostRanges is how many ranges of ranks are written out.
const mostRanges = 6

// Ranks names ranks: "Rank 3", "Ranks 0 to 3 and 7".
func Ranks(ranks []int) string {
	if len(ranks) == 0 {
		return "No rank"
	}
	var parts []string
	more := 0
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		switch {
		case len(parts) >= mostRanges:
			more += k - i + 1
		case k > i+1:
			parts = append(parts, fmt.Sprintf("%d to %d", ranks[i], ranks[k]))
		case k == i+1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[k]))
		default:
			parts = append(parts, fmt.Sprint(ranks[i]))
		}
		i = k + 1
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if len(ranks) == 1 {
		return "Rank " + parts[0]
	}
	if last := len(parts) - 1; last > 0 {
		return "Ranks " + strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return "Ranks " + parts[0]
}

// lower makes what begins a sentence a part of one.
func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }
