package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/input"
	"slackline/model/timeline"
)

// The run of trainingRun: in two of its steps one rank loads its batch for longer.
const (
	trainedRanks = 8
	trainedSteps = 4
	slowRank     = 3
	slowLoad     = 200 // us
)

// trainingRun is a training of our own making, as torch.profiler writes it: each rank loads a batch, copies it, computes forward and
// backward, reduces with all others on a second stream, and synchronizes.
func trainingRun(tb testing.TB) *timeline.Timeline {
	tb.Helper()
	dir := tb.TempDir()
	for rank := range trainedRanks {
		name := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		if err := os.WriteFile(name, []byte(trainingFile(rank)), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	in, err := input.OpenTrace(context.Background(), dir, input.TraceOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return in.Timeline
}

// kinetoFile collects the events of one rank.
type kinetoFile struct {
	events []string
	next   int // correlation
}

func (k *kinetoFile) host(kind, name string, ts, dur int, args string) {
	k.events = append(k.events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 40, "tid": 40, "ts": %d, "dur": %d, "args": {%s}}`, kind, name, ts,
		dur, args))
}

// launch adds a call of 4 us and what it launches on a stream.
func (k *kinetoFile) launch(call, kind, name string, ts, stream, begin, end int, args string) {
	k.next++
	k.host("cuda_runtime", call, ts, 4, fmt.Sprintf(`"correlation": %d`, k.next))
	k.events = append(k.events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 0, "tid": %d, "ts": %d, "dur": %d, "args": {"device": 0, `+
		`"stream": %[3]d, "correlation": %[6]d%[7]s}}`, kind, name, stream, begin, end-begin, k.next, args))
}

func (k *kinetoFile) call(name string, ts, dur int) {
	k.next++
	k.host("cuda_runtime", name, ts, dur, fmt.Sprintf(`"correlation": %d`, k.next))
}

func trainingFile(rank int) string {
	const group = `"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 8, "dtype": "Float", ` +
		`"Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"`
	k := &kinetoFile{}
	start := 1000
	for step := range trainedSteps {
		late := 0 // of the slowest rank
		if step == 1 || step == 2 {
			late = slowLoad
		}
		load := 10
		if rank == slowRank {
			load += late
		}
		t := start + load
		copied := t + 26
		forward := max(copied, t+8) + 100
		backward := forward + 80
		reduced := start + 10 + late + 26 + 180 + 2 + 40 // when the last one has come
		sgd := reduced + 2
		end := sgd + 24
		k.host("user_annotation", fmt.Sprintf("ProfilerStep#%d", step+1), start, end-start, "")
		k.host("user_annotation", "load_batch", start, load, "")
		if load > 20 {
			k.host("cpu_op", "decode_images", start+5, load-8, "")
		}
		k.launch("cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", t, 7, t+6, copied, "")
		k.host("user_annotation", "forward", t+5, 10, "")
		k.launch("cudaLaunchKernel", "kernel", "gemm_fwd", t+7, 7, copied, forward, "")
		k.host("user_annotation", "backward", t+16, 10, "")
		k.launch("cudaLaunchKernel", "kernel", "gemm_bwd", t+18, 7, forward, backward, "")
		k.host("cpu_op", "record_param_comms", t+28, 12, group)
		k.call("cudaEventRecord", t+29, 1)
		k.call("cudaStreamWaitEvent", t+30, 1)
		k.launch("cudaLaunchKernel", "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", t+32, 17, backward+2,
			reduced, ", "+group)
		k.host("user_annotation", "optimizer", t+42, 10, "")
		k.call("cudaEventRecord", t+43, 1)
		k.call("cudaStreamWaitEvent", t+44, 1)
		k.launch("cudaLaunchKernel", "kernel", "sgd", t+46, 7, sgd, sgd+20, "")
		k.call("cudaStreamSynchronize", t+54, end-4-(t+54))
		start = end + 2
	}
	return fmt.Sprintf(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "distributedInfo": {"backend": "nccl", "rank": %d, `+
		`"world_size": 8, "pg_count": 1, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 8, `+
		`"ranks": [0, 1, 2, 3, 4, 5, 6, 7]}]}, "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [%s]}`, rank, strings.Join(k.events, ",\n"))
}
