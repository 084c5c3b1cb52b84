//go:build linux

package mpi

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

func init() {
	roles["speed"] = speedRole
}

// speedRole measures exchanges from the inside, for the benchmarks: bytes per part, repetitions, seconds of the
// fastest of ten rounds.
func speedRole(ctx context.Context, j *Job) error {
	for _, bytes := range []int{8, 4 << 20} {
		repetitions := 2000 / j.Size()
		if bytes > 1<<10 {
			repetitions = 20
		}
		if bytes > 1<<10 && j.Size() > 2 {
			continue // parts of that size for all pairs would fill the memory
		}
		out := make([][]byte, j.Size())
		for p := range out {
			out[p] = make([]byte, bytes)
		}
		fastest := time.Duration(1 << 62)
		for range 10 {
			begin := time.Now()
			for range repetitions {
				if _, err := j.Exchange(ctx, out); err != nil {
					return err
				}
			}
			fastest = min(fastest, time.Since(begin))
		}
		if j.Rank() == 0 {
			fmt.Println(bytes, repetitions, fastest.Seconds())
		}
	}
	return nil
}

// BenchmarkExchange reports the time of an exchange of 8 bytes per pair and the rate at 4 MiB per pair, of the fastest
// of ten rounds: with a core for each of two processes, and with more processes than cores; in common memory, and by the
// bridge, where short parts go straight to their receivers or are passed on (which is done from 16 processes on).
func BenchmarkExchange(b *testing.B) {
	for _, l := range libraries(b) {
		for _, way := range []struct {
			name  string
			size  int
			relay string
			apart bool
		}{
			{"processes=2", 2, "", false}, {"processes=8", 8, "", false},
			{"processes=2/bridge", 2, "", true}, {"processes=8/bridge", 8, "", true}, {"processes=8/relayed", 8, "2", true},
			{"processes=16/straight", 16, "1000", true}, {"processes=16/bridge", 16, "", true},
		} {
			b.Run("mpi="+strings.ReplaceAll(string(l.Kind), " ", "")+"/"+way.name, func(b *testing.B) {
				if way.apart {
					b.Setenv(apartVariable, "1")
				}
				if way.relay != "" {
					b.Setenv(relayVariable, way.relay)
				}
				measureExchanges(b, l, way.size)
			})
		}
	}
}

func measureExchanges(b *testing.B, l *Library, size int) {
	var latency, rate float64
	for range b.N {
		stdout, stderr, err := job(b, l, size, "speed")
		if err != nil {
			b.Fatalf("%v\n%s", err, stderr)
		}
		for line := range strings.Lines(stdout) {
			words := strings.Fields(line)
			size, _ := strconv.ParseFloat(words[0], 64)
			repetitions, _ := strconv.ParseFloat(words[1], 64)
			seconds, _ := strconv.ParseFloat(words[2], 64)
			if size == 8 {
				latency = seconds / repetitions
			} else {
				rate = size * repetitions / seconds
			}
		}
	}
	b.ReportMetric(latency*1e6, "us/exchange")
	if rate > 0 {
		b.ReportMetric(rate/1e9, "GB/s")
	}
	b.ReportMetric(0, "ns/op") // that of starting a job says nothing here
}
