package measure

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slackline/observe/mpi/mpitest"
)

func TestNetworkOverMPI(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		t.Run(string(l.Kind), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			j, err := StartJob(ctx, l, 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := DefaultNetwork()
			o.Sizes, o.Repeat, o.Rounds, o.MaxEager = []int{1, 2, 8, 64, 512}, 10, 2, 1<<9
			o.Renew = func() (Link, error) { return j.Link(0, 1), j.Restart(ctx) }
			n, err := MeasureNetwork(ctx, j.Link(0, 1), o)
			switch {
			case errors.Is(err, ErrImplausible): // a loaded machine is refused, not believed
			case err != nil:
				t.Fatal(err)
			case n.HalfRoundTrip.Value <= 0 || n.L.Value < 0 || n.Eager < 1:
				t.Errorf("%+v", n)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestJobThatFails(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		j, err := StartJob(context.Background(), l, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.do("nonsense", 0, 0, 0, 0, 0, 1); err == nil {
			t.Errorf("%s: no error", l)
		}
		if err := j.Close(); err == nil {
			t.Errorf("%s: the job that was aborted ended well", l)
		}
	}
	if _, err := StartJob(context.Background(), mpitest.Libraries(t)[0], 2, []string{"/nonexistent/mpirun"}); err == nil {
		t.Error("a launcher that does not exist started a job")
	}
}

// TestJobLeftBehind wants nothing to be left of a job whose launcher is ended by a signal before it can end its processes, in whatever
// groups and sessions they are.
func TestJobLeftBehind(t *testing.T) {
	dir := t.TempDir()
	launcher := filepath.Join(dir, "mpirun")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && exit\ncd " + dir + `
setsid sh -c 'trap "" TERM INT; echo $$ > session; while :; do sleep 1; done' >/dev/null 2>&1 &
sh -c 'echo $$ > group; exec sleep 1000' >/dev/null 2>&1 &
while ! [ -s session ] || ! [ -s group ]; do sleep 0.01; done
kill -9 $$
`
	if err := os.WriteFile(launcher, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := StartJob(t.Context(), mpitest.Libraries(t)[0], 2, []string{launcher}); err == nil {
		t.Fatal("a launcher that was killed started a job")
	}
	for _, name := range []string{"session", "group"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(data)) + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("%s: left behind: %s", name, stat)
		}
	}
}

func TestClasses(t *testing.T) {
	same := []pairTime{{[2]int{0, 1}, 400}, {[2]int{0, 2}, 420}}
	other := []pairTime{{[2]int{0, 6}, 2900}, {[2]int{0, 3}, 1500}, {[2]int{0, 5}, 3000}, {[2]int{0, 4}, 1550}}
	list := classesOf(same, other)
	if len(list) != 3 || list[0].Name != "node" || list[1].Name != "switch" || list[2].Name != "far" {
		t.Fatalf("%+v", list)
	}
	if list[2].Usual != [2]int{0, 6} && list[2].Usual != [2]int{0, 5} {
		t.Errorf("the usual pair of %+v", list[2])
	}
	if len(list[1].Pairs) != 2 || list[1].Pairs[0] != [2]int{0, 3} || math.Abs(list[2].Half-2950) > 1 {
		t.Errorf("%+v", list)
	}
	list = classesOf(nil, []pairTime{{[2]int{0, 1}, 1000}, {[2]int{0, 2}, 1100}, {[2]int{0, 3}, 1250}})
	if len(list) != 1 || list[0].Name != "far" {
		t.Errorf("pairs that are alike gave %+v", list)
	}
}
