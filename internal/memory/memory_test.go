package memory

import (
	"os"
	"testing"

	"slackline/internal/needed"
)

func TestParseMeminfo(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal: 100 kB\nMemAvailable:   12 kB\n": 12 << 10,
		"MemAvailable: x kB\n":                      -1,
		"MemAvailable: -3 kB\n":                     -1,
		"MemTotal: 100 kB\n":                        -1,
		"":                                          -1,
	} {
		got, ok := parseMeminfo([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseMeminfo(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestParseCgroup(t *testing.T) {
	for _, tc := range []struct {
		limit, used string
		want        int64 // -1: no limit
	}{{"1000\n", "300\n", 700}, {"1000", "2000", 0}, {"max\n", "300\n", -1}, {"1000", "", -1}} {
		got, ok := parseCgroup([]byte(tc.limit), []byte(tc.used))
		if ok != (tc.want >= 0) || ok && got != tc.want {
			t.Errorf("parseCgroup(%q, %q) = %d, %v; want %d", tc.limit, tc.used, got, ok, tc.want)
		}
	}
}

func TestAvailable(t *testing.T) {
	n, ok := Available()
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		if ok {
			t.Error("Available knows the memory of a system that does not tell")
		}
		return
	}
	if !ok || n <= 0 {
		t.Errorf("Available = %d, %v; want some memory", n, ok)
	}
}

func TestUsed(t *testing.T) {
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 512 {
		block[i] = 1
	}
	peak, cpu, ok := Used()
	needed.That(t, ok, "the memory that a process has used, as the system tells it,")
	if peak < int64(len(block)) || peak > 1<<40 || cpu <= 0 {
		t.Errorf("peak %d with a block of %d, CPU time %v", peak, len(block), cpu)
	}
	if block[512] != 1 {
		t.Error("the block was not kept")
	}
}
