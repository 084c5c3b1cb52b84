package schedule

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever stands where a text is cut for the threads, they make the same of it as one that reads all of it.
func TestPackGOALParts(t *testing.T) {
	block := func(rank int) string {
		return fmt.Sprintf("rank %d {\nl1: send 8b to %d tag 3\nl2: recv 8b from 0\nl2 requires l1\nl3: calc 5\nl3 irequires l1\n"+
			"l3 requires l2\n}\n", rank, rank)
	}
	var ascending, descending strings.Builder
	for rank := range 40 {
		ascending.WriteString(block(rank))
		descending.WriteString(block(39 - rank))
	}
	for name, text := range map[string]string{
		"ascending":        ascending.String(),
		"descending":       descending.String(),
		"in a comment":     block(0) + "/*" + ascending.String() + "*/" + block(1),
		"twice":            ascending.String() + block(7),
		"open block":       ascending.String()[:ascending.Len()-2],
		"wrong at the end": ascending.String() + "rank 40 {\nl1: calc 1\n}\n",
		"wrong label":      strings.Replace(ascending.String(), "rank 30 {\n", "rank 30 {\nl1: calc 1\n", 1),
		"cycle":            strings.Replace(ascending.String(), "rank 30 {\n", "rank 30 {\nl1 requires l3\n", 1),
		"one block":        block(3),
		"none":             "",
	} {
		if diff := samePacked(goalFormat, []byte("num_ranks 40\n"+text)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
