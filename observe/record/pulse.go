package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"slackline/internal/parallel"
)

// pulse is as much of a thread as tells whether it moves: when the call began that it made last, or the run of tests that find nothing.
type pulse struct {
	mark  int64
	polls bool
	seen  bool // there was a call
}

// movedTo reports whether a thread made a call from one look to the next. Tests that find nothing are none.
func (p pulse) movedTo(next pulse) bool { return p.mark != next.mark && !(p.polls && next.polls) }

// eventFiles are the files of the threads in some folders.
func eventFiles(dirs []string) ([]string, error) {
	var list []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".evt") {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list, nil
}

// pulses looks at the newest part of each file.
func pulses(paths []string, kinds []callKind) []pulse {
	list := make([]pulse, len(paths))
	parallel.Each(len(paths), runtime.GOMAXPROCS(0), func(i int) { list[i] = pulseOf(paths[i], kinds) })
	return list
}

// pulseOf is that of one thread; a file that cannot be read has none.
func pulseOf(path string, kinds []callKind) pulse {
	raw, file, err := openRaw(path)
	if err != nil {
		return pulse{}
	}
	defer file.Close()
	h := &history{kinds: kinds}
	t := &threadNow{paths: map[uint32]int{}}
	order := raw.order
	for n := len(order) - 1; n >= 0 && t.mark == 0; n-- { // the newest may hold samples alone
		raw.order = order[n : n+1]
		var rec rawRecord
		for raw.next(&rec) == nil {
			t.takes(&rec, h)
		}
	}
	if u := raw.head.unkept; u != nil && u.enter > t.mark && t.call == nil {
		t.takes(u, h)
	}
	return pulse{mark: t.mark, polls: len(t.polls) > 0, seen: t.mark != 0}
}
