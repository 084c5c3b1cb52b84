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
		repetitions := 1000
		if bytes > 1<<10 {
			repetitions = 20
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
// of ten rounds.
func BenchmarkExchange(b *testing.B) {
	for _, l := range libraries(b) {
		b.Run("mpi="+strings.ReplaceAll(string(l.Kind), " ", "")+"/processes=2", func(b *testing.B) {
			var latency, rate float64
			for range b.N {
				stdout, stderr, err := job(b, l, 2, "speed")
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
			b.ReportMetric(rate/1e9, "GB/s")
			b.ReportMetric(0, "ns/op") // that of starting a job says nothing here
		})
	}
}
