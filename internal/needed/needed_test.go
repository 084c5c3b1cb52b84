package needed

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// observed is a test that notes how it ends.
type observed struct {
	testing.TB
	end string
}

func (o *observed) Helper() {}

func (o *observed) Fatalf(format string, args ...any) {
	o.end = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (o *observed) Skip(args ...any) {
	o.end = "skipped: " + fmt.Sprint(args...)
	runtime.Goexit()
}

// endOf returns how a test ends.
func endOf(test func(t testing.TB)) string {
	o := &observed{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(o)
		o.end = "went on"
	}()
	<-done
	return o.end
}

// TestFull wants long tests to be skipped under -short and nowhere else, in continuous integration, too.
func TestFull(t *testing.T) {
	short := flag.Lookup("test.short").Value
	defer short.Set(short.String())
	for _, ci := range []string{"", "true"} {
		t.Setenv("CI", ci)
		for given, want := range map[string]string{"true": "skipped: go test -short leaves out MPI", "false": "went on"} {
			if raceDetector {
				want = "went on"
			}
			if err := short.Set(given); err != nil {
				t.Fatal(err)
			}
			if got := endOf(func(t testing.TB) { Full(t, "MPI") }); got != want {
				t.Errorf("CI = %q, -short=%s: the test %s, want %q", ci, given, got, want)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	for _, tc := range []struct {
		name string
		test func(t testing.TB)
		why  string // empty if nothing is missing
	}{
		{"tool", func(t testing.TB) { Tool(t, "sh") }, ""},
		{"no tool", func(t testing.TB) { Tool(t, "no-such-tool") }, "no-such-tool is missing"},
		{"no tool of a package", func(t testing.TB) { Tool(t, "no-such-tool", "of the package none") },
			"no-such-tool, of the package none, is missing"},
		{"that", func(t testing.TB) { That(t, true, "this") }, ""},
		{"not that", func(t testing.TB) { That(t, false, "this") }, "this is missing"},
		{"no error", func(t testing.TB) { NoError(t, nil) }, ""},
		{"error", func(t testing.TB) { NoError(t, errors.New("out of luck")) }, "out of luck"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for variable, verdict := range map[string]string{"": "skipped: ", "true": "failed: "} {
				t.Setenv("CI", variable)
				want := verdict + tc.why
				if tc.why == "" {
					want = "went on"
				}
				if got := endOf(tc.test); !strings.HasPrefix(got, want) {
					t.Errorf("CI = %q: the test %s, want %q", variable, got, want)
				}
			}
		})
	}
}
