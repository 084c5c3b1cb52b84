package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"slackline/model/trace/tracetest"
)

// TestOverlappingPosts: of receives that two threads post at the same time, any may be the first. Their order is one in which no message
// ends before it was sent, if there is one; receives that do not overlap stay in order.
func TestOverlappingPosts(t *testing.T) {
	const early, late = "2..3 MPI_Send: send to 1 size 8\n", "25..26 MPI_Send: send to 1 size 9\n"
	for _, c := range []struct {
		name, sends, first, second string
		want                       string // what is received, by thread
		violations                 int64
	}{
		{"blocking", early + late, "0..30 MPI_Recv: recv from 0 size 9", "5..10 MPI_Recv: recv from 0 size 8", "[9] [8]", 0},
		{"below 0", "-28..-27 MPI_Send: send to 1 size 8\n" + late, "-30..30 MPI_Recv: recv from 0 size 9",
			"-25..-20 MPI_Recv: recv from 0 size 8", "[9] [8]", 0},
		{"posted one after the other", early + late,
			"0..1 MPI_Irecv: post 1\n6..30 MPI_Wait: recv from 0 size 9 request 1", "5..10 MPI_Recv: recv from 0 size 9", "[8] [9]", 1},
		{"posted in overlapping calls", early + late,
			"0..6 MPI_Irecv: post 1\n7..30 MPI_Wait: recv from 0 size 9 request 1", "5..10 MPI_Recv: recv from 0 size 8", "[9] [8]", 0},
		{"a thread in its own order", early + late + "27..28 MPI_Send: send to 1 size 10\n",
			"0..6 MPI_Irecv: post 1\n7..8 MPI_Irecv: post 2\n" +
				"9..30 MPI_Wait: recv from 0 size 10 request 2\n31..32 MPI_Wait: recv from 0 size 9 request 1",
			"5..10 MPI_Recv: recv from 0 size 8", "[9 10] [8]", 0},
		{"sizes tell", early + late + "27..28 MPI_Send: send to 1 size 8\n", "0..40 MPI_Recv: recv from 0 size 9",
			"1..41 MPI_Recv: recv from 0 size 8\n42..43 MPI_Recv: recv from 0 size 8", "[9] [8 8]", 0},
		{"matched probes", early + late, "0..4 MPI_Mprobe\n9..10 MPI_Mrecv: recv from 0 size 8",
			"5..26 MPI_Mprobe\n27..28 MPI_Mrecv: recv from 0 size 9", "[8] [9]", 0},
		{"matched probes, received later", early + late, "0..4 MPI_Mprobe\n40..41 MPI_Mrecv: recv from 0 size 8",
			"5..26 MPI_Mprobe\n27..28 MPI_Imrecv: post 1\n29..30 MPI_Wait: recv from 0 size 9 request 1", "[8] [9]", 0},
		{"overlapping matched probes", early + late, "0..26 MPI_Mprobe\n40..41 MPI_Mrecv: recv from 0 size 9",
			"1..4 MPI_Mprobe\n50..51 MPI_Mrecv: recv from 0 size 9", "[9] [8]", 0},
		{"sizes", early + late, "0..40 MPI_Recv: recv from 0 size 8", "1..41 MPI_Recv: recv from 0 size 9", "[8] [9]", 0},
		{"sizes in the other order", early + late, "0..41 MPI_Recv: recv from 0 size 9", "1..40 MPI_Recv: recv from 0 size 8", "[9] [8]", 0},
		{"no order is possible", "50..51 MPI_Send: send to 1 size 8\n" + "52..53 MPI_Send: send to 1 size 9\n",
			"0..30 MPI_Recv: recv from 0 size 9", "5..10 MPI_Recv: recv from 0 size 9", "[8] [9]", 2},
		{"overlapping twice", early + late + "35..36 MPI_Send: send to 1 size 8\n" + "55..56 MPI_Send: send to 1 size 9\n",
			"0..30 MPI_Recv: recv from 0 size 9\n31..60 MPI_Recv: recv from 0 size 9",
			"5..10 MPI_Recv: recv from 0 size 8\n40..45 MPI_Recv: recv from 0 size 8", "[9 9] [8 8]", 0},
	} {
		text := "slackline trace 1\nunit us\nrank 0\n" + c.sends + "rank 1\n" + c.first + "\nrank 1 thread 1\n" + c.second + "\n"
		tl := tracetest.Timeline(t, text)
		sizes := make([][]int64, 3)
		for _, m := range tl.Messages {
			sizes[m.To] = append(sizes[m.To], m.Size)
		}
		if got := fmt.Sprint(sizes[1], sizes[2]); got != c.want || tl.Problems.Violations != c.violations || len(tl.Problems.Notes) > 0 {
			t.Errorf("%s: received %s, %d violations, notes %q, want %s, %d, none", c.name, got, tl.Problems.Violations, tl.Problems.Notes,
				c.want, c.violations)
		}
	}
}

// TestOverlappingPostsAtRandom: whatever order MPI takes posts in, while they last, an order without violations is found.
func TestOverlappingPostsAtRandom(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		const perThread = 5
		var posts [][2]int // when it takes effect, in its call, and when the message has ended
		var threads strings.Builder
		for thread := range 3 {
			fmt.Fprintf(&threads, "rank 1 thread %d\n", thread)
			waits, at := "", 0
			for i := range perThread {
				begin := at + 1 + rnd.IntN(4)
				at = begin + rnd.IntN(12)
				match := begin + rnd.IntN(at-begin+1)
				end := at
				if rnd.IntN(2) == 0 {
					end = 200 + rnd.IntN(100)
					fmt.Fprintf(&threads, "%d..%d MPI_Irecv: post %d\n", begin, at, i)
					waits += fmt.Sprintf("@%d recv from 0 size 8 request %d\n", end, i)
				} else {
					fmt.Fprintf(&threads, "%d..%d MPI_Recv: recv from 0 size 8\n", begin, at)
				}
				posts = append(posts, [2]int{match, end})
			}
			lines := strings.Split(strings.TrimSpace(waits), "\n")
			slices.Sort(lines)
			fmt.Fprintf(&threads, "200 MPI_Waitall {\n%s\n} 300\n", strings.Join(lines, "\n"))
		}
		slices.SortStableFunc(posts, func(a, b [2]int) int { return a[0] - b[0] })
		// Sends, in the order of the posts, as late as all that come after them permit.
		sends, latest := make([]string, len(posts)), 300
		for i := len(posts) - 1; i >= 0; i-- {
			latest = min(latest, posts[i][1])
			sends[i] = fmt.Sprintf("@%d send to 1 size 8", latest)
		}
		text := "slackline trace 1\nunit us\nrank 0\n0 MPI_Send {\n" + strings.Join(sends, "\n") + "\n} 400\n" + threads.String()
		tl := tracetest.Timeline(t, text)
		if n := len(posts); len(tl.Messages) != n || tl.Problems.Violations > 0 {
			t.Fatalf("seed %d: %d messages, %d violations, want %d, 0:\n%s", seed, len(tl.Messages), tl.Problems.Violations, n, text)
		}
	}
}
