package kineto

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"testing"
	"time"

	"slackline/internal/memory"
)

// traceText is a file with so many events: operators, launches, flows and kernels.
func traceText(events int) []byte {
	var data bytes.Buffer
	data.WriteString(`{"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [`)
	for i := range events / 4 {
		at := 10 * i
		fmt.Fprintf(&data, `{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": %d.123, "dur": 9.5, "args": {"External id": %d, "Record function id": 0, "Ev Idx": %d}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": %d.250, "dur": 4.000, "args": {"cbid": 211, "correlation": %d}},
{"ph": "s", "id": %d, "pid": 7, "tid": 7, "ts": %d.250, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d.000, "dur": 6.000, "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %d, "registers per thread": 96, "shared memory": 0, "grid": [8, 1, 1], "block": [640, 1, 1]}},
`, at, i, i, at, i+1, i+1, at, at+3, i+1)
	}
	data.Truncate(data.Len() - 2)
	data.WriteString("]}")
	return data.Bytes()
}

// BenchmarkKineto reads a file of many events, plain and packed. Its rates are those of the fastest pass, since other passes shared
// their core with other work, and per second of CPU over all passes.
func BenchmarkKineto(b *testing.B) {
	const events = 200_000
	plain := traceText(events)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(plain); err != nil || z.Close() != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"plain": plain, "gzip": packed.Bytes()} {
		b.Run("file="+name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			best, passes, cpu := time.Duration(math.MaxInt64), 0, memory.CPU()
			for b.Loop() {
				start := time.Now()
				in, err := unpacked(bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				f, err := readFile(in, "x", "x", nil)
				best = min(best, time.Since(start))
				if err != nil || f.damage != nil || f.events != events {
					b.Fatal(err, f.damage, f.events)
				}
				passes++
			}
			b.ReportMetric(float64(events)/best.Seconds()/1e6, "Mevents/s")
			b.ReportMetric(float64(passes*events)/(memory.CPU()-cpu).Seconds()/1e6, "Mevents/cpu-s")
		})
	}
}
