package scenario

import (
	"strings"
	"testing"

	"slackline/model/unit"
)

// solveRun is a run in which rank 0 solves for 30 us and rank 1 for 10 us before a message, of 33 us until it is received.
const solveRun = "slackline trace 1\nunit us\nrank 0\n0 main {\n  0..30 solve\n  30..32 MPI_Send: send to 1 size 8\n} 32\n" +
	"rank 1\n0 main {\n  0..10 solve\n  10..33 MPI_Recv: recv from 0 size 8\n} 33\n"

// On a network without costs the run takes as long as rank 0 solves; a change of that is a change of the run time.
func TestChange(t *testing.T) {
	path := writeFile(t, "solve.trace", solveRun)
	for _, tc := range []struct {
		flags         string
		before, after unit.Duration
		want          []string // of the sentences
	}{
		{"--what-if solve=-50%", 30, 15, []string{"takes 50 % less", "run time 15us instead of 30us: 50.0 % gained"}},
		{"--what-if solve@0=-10%", 30, 27, []string{"takes 10 % less on rank 0", "10.0 % gained"}},
		{"--what-if solve@1=-100%", 30, 30, []string{"takes 100 % less on rank 1", "nothing gained"}},
		{"--balance solve", 30, 20, []string{"solve, 40us on 2 ranks (10us to 30us on a rank), is ", "33.3 % gained"}},
		{"--balance solve --what-if solve=-50%", 30, 10, []string{"66.7 % gained"}},
	} {
		r, _, err := opened(t, append(strings.Fields("-L 0 -o 0 -g 0 -G 0 "+tc.flags), path)...)
		if err != nil {
			t.Errorf("%s: %v", tc.flags, err)
			continue
		}
		if before := r.Change.before; before != tc.before*unit.Microsecond {
			t.Errorf("%s: the run takes %s as it was, want %d us", tc.flags, before, tc.before)
		}
		if after := r.Change.after; after != tc.after*unit.Microsecond {
			t.Errorf("%s: the run takes %s, want %d us", tc.flags, after, tc.after)
		}
		text := strings.Join(r.Change.Sentences(), "\n")
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", tc.flags, want, text)
			}
		}
		j := r.Change.JSON()
		if j.Before != unit.Nanoseconds(r.Change.before) || j.After != unit.Nanoseconds(r.Change.after) {
			t.Errorf("%s: the document has %+v", tc.flags, j)
		}
		for i, c := range j.Changes {
			if c.Balance != (c.How != "") || c.Balance == (c.Percent != "") || (c.Rank != nil) != strings.Contains(tc.flags, "@") {
				t.Errorf("%s: change %d is %+v", tc.flags, i, c)
			}
		}
	}
	if (*futureChange)(nil).JSON() != nil {
		t.Error("nothing was changed, but there is a document")
	}
}

func TestChangeMistakes(t *testing.T) {
	path := writeFile(t, "solve.trace", solveRun)
	for flags, want := range map[string]string{
		"--balance nothing":                      "nothing",
		"--balance solve --balance-by x":         "--balance-by: ",
		"--what-if solve=-101%":                  "101",
		"--what-if solve":                        "solve",
		"--balance ":                             "give a call path, e.g. solve/fixup",
		"--balance solve --balance-by neighbors": "needs the process grid; give --grid, e.g. --grid 16x16",
		"--change nothing":                       "nothing",
		"--what-if solve@7=-10%":                 "7",
	} {
		args := strings.Split("-L 0 -o 0 -g 0 -G 0 "+flags, " ")
		if _, _, err := opened(t, append(args, path)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", flags, err, want)
		}
	}
}

func TestGain(t *testing.T) {
	for _, tc := range []struct {
		before, after unit.Duration
		want          string
	}{{100, 75, "25.0 % gained"}, {100, 125, "25.0 % lost"}, {100, 100, "nothing gained"}, {0, 0, "nothing gained"}, {1e9, 1e9 - 1,
		"< 0.1 % gained"}} {
		if got := (&futureChange{before: tc.before, after: tc.after}).gain(); got != tc.want {
			t.Errorf("%d to %d: %s, want %s", tc.before, tc.after, got, tc.want)
		}
	}
}
