package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// dump prints a dataset in a form that is easy to compare.
func dump(d *Dataset) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(d.Parameters, " "))
	for _, s := range d.Series {
		fmt.Fprintf(&b, "%s %s:", s.CallPath, s.Metric)
		for _, p := range s.Points {
			fmt.Fprintf(&b, " %v=%v", p.At, p.Values)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const extraPText = `# a comment
PARAMETER p
PARAMETER n
POINTS (8 100) (16 100)
POINTS (8 200) ((16) (200))

METRIC time
REGION main->solve
DATA 1.1 1.2
DATA 2.1 2.0
DATA 1.9 1.8
DATA 4.2 4.1
REGION main
DATA 1
`

// TestFormats walks the table: each entry can be listed, recognized and read, and there is an example of it.
func TestFormats(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, f := range Formats() {
		if f.Name == "" || f.Info == "" || f.Sniff == nil || f.Read == nil || (f.Write != nil) != (f.Suffix != "") {
			t.Errorf("%s: the entry is not complete: %+v", f.Name, f)
		}
		for _, key := range []string{f.Name, f.Info, f.Suffix} {
			if seen[key] && key != "" {
				t.Errorf("%s: %q is in the table twice", f.Name, key)
			}
			seen[key] = true
		}
		if (f.Mark != "") != (f.ReadDir != nil) {
			t.Errorf("%s: a directory has a mark and a reader, or neither", f.Name)
		}
		if f.Name != "cube" && f.ReadDir == nil && !slices.ContainsFunc(texts, func(e example) bool { return e.format == f.Name }) {
			t.Errorf("%s: there is no example in texts", f.Name)
		}
	}
}

// example is a text in a format and what it holds.
type example struct{ format, text, want string }

// texts are an example of each format, and what it holds.
var texts = []example{
	{"extrap-json", `{"parameters":["p"],"measurements":{"main->f":{"time":[{"point":[16],"values":[1.5,1.6]},{"point":[8],"values":[1]}],"visits":[{"point":8,"values":3}]},"a":{"time":[]}}}`,
		"p\nmain->f time: [16]=[1.5 1.6] [8]=[1]\nmain->f visits: [8]=[3]\n"},
	{"extrap-json", `{"measurements":{"f":{"t":[{"point":[1,2],"values":[3,null]}]}},"extra":{"x":[1]},"parameters":["p","q"]}`,
		"p q\nf t: [1 2]=[3]\n"},
	{"extrap-old", `{"parameters":[{"id":1,"name":"p"}],"metrics":[{"id":1,"name":"time"}],"callpaths":[{"id":1,"name":"main"}],
"coordinates":[{"id":1,"parameter_value_pairs":[{"parameter_id":1,"parameter_value":8}]}],
"measurements":[{"id":1,"callpath_id":1,"metric_id":1,"coordinate_id":1,"value":1.5},{"id":2,"callpath_id":1,"metric_id":1,"coordinate_id":1,"value":1.25}]}`,
		"p\nmain time: [8]=[1.5 1.25]\n"},
	{"jsonl", `{"params":{"p":16,"n":2},"callpath":"main->f","metric":"time","value":1.5}

{"params":{"n":2,"p":16},"callpath":"main->f","metric":"time","value":[1.6,1.7]}
{"params":{"p":8,"n":2},"value":3}
`, "p n\nmain->f time: [16 2]=[1.5 1.6 1.7]\n<root> <default>: [8 2]=[3]\n"},
	{"extrap-text", extraPText, "p n\nmain->solve time: [8 100]=[1.1 1.2] [16 100]=[2.1 2] [8 200]=[1.9 1.8] [16 200]=[4.2 4.1]\n" +
		"main time: [8 100]=[1]\n"},
	{"extrap-text", "PARAMETER p\r\nPOINTS 8 16\r\nREGION f\r\nDATA 1 2\r\nDATA 3\r\n", "p\nf <default>: [8]=[1 2] [16]=[3]\n"},
	{"csv", "callpath,metric,p,repetition,value\nmain->f,time,16,0,1.5\nmain->f,time,16,1,1.6\n\"a,b\",time,8,0,2\n",
		"p\nmain->f time: [16]=[1.5 1.6]\na,b time: [8]=[2]\n"},
	{"csv", "p, value\n8, 1\n16, \n", "p\n<root> <default>: [8]=[1]\n"},
	{"csv", "function,p,Time\nf,8,1\nf,16,2\n", "p\nf time: [8]=[1] [16]=[2]\n"},
	{"csv", "time,p,value\n3,8,1\n", "time p\n<root> <default>: [3 8]=[1]\n"},
	{"profile", `{"run":{"ranks":4,"locations":4,"time_s":0.5},"composition":[],"efficiency":{},"callpaths":[
{"callpath":"main/MPI_Send","kind":"mpi_point_to_point","visits":8,"exclusive_s":0.4,"inclusive_s":0.4,"messages_sent":8,"bytes_sent":64,"messages_received":0,"bytes_received":0,"collective_bytes":16}]}`,
		"p\n<root> run_time: [4]=[0.5]\nmain->MPI_Send time: [4]=[0.1]\nmain->MPI_Send visits: [4]=[2]\nmain->MPI_Send messages: [4]=[2]\n" +
			"main->MPI_Send bytes: [4]=[20]\n"},
	{"waits", `{"waits":[{"metric":"late_sender","rank":0,"callpath":"main/MPI_Recv","seconds":0.5},{"metric":"late_sender","rank":1,"callpath":"main/MPI_Recv","seconds":0.5},
{"metric":"late_sender_wrong_order","rank":1,"callpath":"main/MPI_Recv","seconds":0.5}],
"delays":[{"rank":0,"callpath":"main/f","short_s":0.75,"long_s":0.25}],"run":{"ranks":2,"locations":2,"time_s":3}}`,
		"p\n<root> run_time: [2]=[3]\nmain->MPI_Recv waiting: [2]=[0.5]\nmain->f delay: [2]=[0.5]\n"},
	{"nccl", `# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid  11 on node device  0 [0x07] NVIDIA A100
#  Rank  1 Group  0 Pid  12 on node device  1 [0x0a] NVIDIA A100
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1       32    0.25    0.50      0       16    0.50    1.00      0
# Avg bus bandwidth    : 0.75
`, "bytes p\nnccl out_of_place_time: [8 2]=[3.2e-05]\nnccl out_of_place_algbw: [8 2]=[0.25]\nnccl out_of_place_busbw: [8 2]=[0.5]\n" +
		"nccl in_place_time: [8 2]=[1.6e-05]\nnccl in_place_algbw: [8 2]=[0.5]\nnccl in_place_busbw: [8 2]=[1]\n"},
	{"pytest", `{"machine_info":{},"commit_info":{},"benchmarks":[
{"name":"test_sort[8-quick]","fullname":"test_a.py::test_sort[8-quick]","params":{"n":8,"how":"quick"},"stats":{"mean":0.5,"data":[0.25,0.75]}},
{"name":"test_sort[16-quick]","fullname":"test_a.py::test_sort[16-quick]","params":{"n":16,"how":"quick"},"stats":{"mean":1.5}}],"version":"4"}`,
		"n\ntest_a.py->test_sort->how=quick time: [8]=[0.25 0.75] [16]=[1.5]\n"},
	{"reframe", `{"session_info":{"data_version":"4.0"},"runs":[{"testcases":[
{"name":"x","display_name":"osu %n=8 %kind=fast","system":"daint","result":"pass","num_tasks":4,"perfvalues":{"daint:gpu:latency":[1.5,1.4,-0.1,0.1,"us"]}},
{"name":"old","display_name":"osu %n=16 %kind=fast","result":"success","num_tasks":4,"perfvars":[{"name":"latency","unit":"us","value":2.5}]}]}]}`,
		"n p\nosu->kind=fast latency: [8 4]=[1.5] [16 4]=[2.5]\n"},
	{"caliper", `{"data":[[0.5,0,0],[0.25,1,0],[0.75,1,1],[null,0,1]],"columns":["time","path","mpi.rank"],
"column_metadata":[{"is_value":true,"attribute.unit":"sec"},{"is_value":false},{"is_value":true}],
"nodes":[{"label":"main","column":"path"},{"label":"solve","column":"path","parent":0}],"mpi.world.size":"2"}`,
		"p\nmain time: [2]=[0.5]\nmain->solve time: [2]=[0.25 0.75]\n"},
	{"cali", `__rec=node,id=12,attr=10,data=276,parent=3
__rec=node,id=13,attr=8,data=region,parent=12
__rec=node,id=14,attr=10,data=85,parent=5
__rec=node,id=15,attr=8,data=time,parent=14
__rec=node,id=16,attr=8,data=mpi.rank,parent=14
__rec=node,id=17,attr=8,data=mpi.world.size,parent=14
__rec=node,id=20,attr=13,data=main
__rec=node,id=21,attr=13,data=a\,b,parent=20
__rec=ctx,ref=20,attr=15=16,data=0.5=0
__rec=ctx,ref=21,attr=15=16,data=0.25=0
__rec=ctx,ref=21,attr=15=16,data=0.75=1
__rec=globals,attr=17,data=2
`, "p\nmain time: [2]=[0.5]\nmain->a,b time: [2]=[0.25 0.75]\n"},
	{"tau", `2 templated_functions_MULTI_TIME
# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>
"main" 1 8 500000 2000000 0 GROUP="TAU_USER"
"main => MPI_Send()" 8 0 1500000 1500000 0 GROUP="MPI"
0 aggregates
1 userevents
# eventname numevents max min mean sumsqr
"Message size" 8 64 64 64 32768
`, "\nmain visits: []=[1]\nmain time: []=[0.5]\nmain inclusive_time: []=[2]\nmain->MPI_Send() visits: []=[8]\n" +
		"main->MPI_Send() time: []=[1.5]\nmain->MPI_Send() inclusive_time: []=[1.5]\n"},
	{"darshan", "# darshan log version: 3.41\n# nprocs: 4\n# run time: 2.5\n" +
		"POSIX\t0\t7\tPOSIX_BYTES_READ\t100\t/a\t/\text4\nPOSIX\t1\t8\tPOSIX_BYTES_READ\t28\t/b\t/\text4\n" +
		"POSIX\t0\t7\tPOSIX_MAX_BYTE_READ\t99\t/a\t/\text4\nPOSIX\t0\t7\tPOSIX_F_READ_TIME\t0.5\t/a\t/\text4\n",
		"p\n<root> run_time: [4]=[2.5]\nPOSIX bytes_read: [4]=[128]\nPOSIX f_read_time: [4]=[0.5]\n"},
	{"gobench", `goos: linux
BenchmarkSort/n=1024-8   500   2345678 ns/op   16 B/op   2 allocs/op
BenchmarkSort/n=1024-8   500   2345600 ns/op
BenchmarkSort/n=2048/quick-8   10   5 ns/op
BenchmarkPlain/64-8  7 9 ns/op
BenchmarkNone-8  7 9 ns/op
PASS
`, "n\nBenchmarkSort ns/op: [1024]=[2.345678e+06 2.3456e+06]\nBenchmarkSort B/op: [1024]=[16]\nBenchmarkSort allocs/op: [1024]=[2]\nBenchmarkSort->quick ns/op: [2048]=[5]\nBenchmarkPlain ns/op: [64]=[9]\n"},
	{"google", `{"context":{},"benchmarks":[
{"name":"BM_Sort/1024/threads:8/real_time","run_name":"BM_Sort/1024/threads:8/real_time","run_type":"iteration","real_time":12,"cpu_time":11,"time_unit":"us"},
{"name":"BM_Sort/1024/threads:8/real_time_mean","run_name":"BM_Sort/1024/threads:8/real_time","run_type":"aggregate","aggregate_name":"mean","real_time":12.3,"cpu_time":12.2,"time_unit":"us"}]}`,
		"n threads\nBM_Sort real_time: [1024 8]=[1.2e-05]\nBM_Sort cpu_time: [1024 8]=[1.1e-05]\n"},
	{"osu", `# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       1.25              1.00              1.50        1000
8                      11.49             11.00             12.00        1000
`, "bytes\nAllreduce Avg Latency(us): [4]=[1.25] [8]=[11.49]\nAllreduce Min Latency(us): [4]=[1] [8]=[11]\nAllreduce Max Latency(us): [4]=[1.5] [8]=[12]\n"},
	{"imb", `#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 64
# ( 64 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.07         0.06
            8         1000        10.11        10.53        10.32

# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.50        16.00
`, "p bytes\nAllreduce t_min: [64 0]=[0.05] [64 8]=[10.11]\nAllreduce t_max: [64 0]=[0.07] [64 8]=[10.53]\nAllreduce t_avg: [64 0]=[0.06] [64 8]=[10.32]\nPingPong t: [2 8]=[0.5]\n"},
	{"simulation", `{"input":"bcast","ranks":16,"makespan_ns":27480}`, "p\nbcast makespan: [16]=[2.748e-05]\n"},
	{"simulation", `{"input":"bcast","results":[{"ranks":16,"replicas":2,"noiseless_ns":1,"median_ns":5,"samples_ns":[4000,6000]},{"ranks":32,"replicas":1,"noiseless_ns":1,"median_ns":8000}]}`,
		"p\nbcast makespan: [16]=[4.000000000000001e-06 6e-06] [32]=[8.000000000000001e-06]\n"},
	{"measured", measuredHeader + `round-time,MPI_Bcast,2,8,0,0,0,10,110,0,1,1
round-time,MPI_Bcast,2,8,0,0,1,12,142,0,1,1
round-time,MPI_Bcast,2,8,0,1,1,0,50,4,1,1
round-time,MPI_Bcast,2,8,0,1,0,0,9,0,1,1
round-time,MPI_Bcast,2,64,0,0,0,0,200,0,1,1
round-time,MPI_Bcast,2,64,0,0,1,0,300,0,1,1
mpptest,MPI_Bcast,2,8,0,0,0,0,500,0,10,1
mpptest,MPI_Bcast,2,8,0,0,1,0,900,0,10,1
round-time,MPI_Barrier,2,0,0,0,0,0,70,0,1,1
round-time,MPI_Barrier,2,0,0,0,1,0,80,0,1,1
round-time,MPI_Scan,2,8,0,0,0,0,70,1,1,0
round-time,MPI_Scan,2,8,0,0,1,0,80,0,1,0
`, "p size\nMPI_Bcast time: [2 8]=[130] [2 64]=[300]\nMPI_Bcast time-mpptest: [2 8]=[50]\nMPI_Barrier time: [2 8]=[80] [2 64]=[80]\n"},
	{"slackline", `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"f","metric":"time","points":[{"at":[8],"values":[1,2]}]}]}`, "p\nf time: [8]=[1 2]\n"},
}

const measuredHeader = "scheme,operation,ranks,size,launch,repetition,rank,start_ns,end_ns,flags,executions,counts\n"

func TestRead(t *testing.T) {
	for _, tc := range texts {
		d, f, err := Read("x", []byte(tc.text), "")
		if err != nil {
			t.Errorf("%s: %v", tc.format, err)
			continue
		}
		if f.Name != tc.format {
			t.Errorf("%s is taken for %s:\n%s", tc.format, f.Name, tc.text)
		}
		if got := dump(d); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", tc.format, got, tc.want)
		}
	}
}

// TestRoundTrip writes each example in every form that can be written, and reads it again.
func TestRoundTrip(t *testing.T) {
	for _, tc := range texts {
		d, _, err := Read("x", []byte(tc.text), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Settle(); err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			name := format.Name
			if format.Write == nil {
				continue
			}
			var b bytes.Buffer
			err := format.Write(d, &b, nil)
			if name == "extrap-text" && len(d.Parameters) == 0 {
				if err == nil || !strings.Contains(err.Error(), "needs a parameter") {
					t.Errorf("%s as %s: error = %v", tc.format, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s as %s: %v", tc.format, name, err)
				continue
			}
			again, f, err := Read("y", b.Bytes(), "")
			if err != nil || f.Name != name {
				t.Errorf("%s as %s: read as %s, %v\n%s", tc.format, name, f.Name, err, b.String())
				continue
			}
			options := cmp.Options{cmpopts.IgnoreUnexported(Dataset{}, Series{}), cmpopts.IgnoreFields(Dataset{}, "Warnings"), cmpopts.EquateEmpty()}
			if name != "slackline" && name != "csv" { // no other form has units
				options = append(options, cmpopts.IgnoreFields(Series{}, "Unit"))
			}
			if diff := cmp.Diff(d, again, options); diff != "" {
				t.Errorf("%s as %s:\n%s", tc.format, name, diff)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "x: is empty"},
		{"p,value,value\n1,2,3\n", "x:1: has two columns value"},
		{"hello\n", "is not in a known format of measurements"},
		{"#  size  count  time  algbw  busbw\n8 2 1.5\n", "x:2: has 3 fields below 5 columns; is the line complete?"},
		{"#  size  count  time  algbw  busbw\n8 2 fast 1 1\n", `x:2: time: "fast" is not a number`},
		{`{"machine_info":{},"commit_info":{},"benchmarks":[{"name":"a","stats":{"mean":"x"}}]}`, "x:1: has a string where a number was expected"},
		{`{"machine_info":{},"commit_info":{},"benchmarks":[{"name":"a"}]}`, "holds no measurement"},
		{`{"session_info":{},"runs":[{"testcases":[{"name":"a","result":"fail","perfvalues":{"s:p:v":[1]}}]}]}`, "holds no measurement"},
		{`{"session_info":{},"runs":5}`, "x:1: has a number where a list was expected"},
		{`{"data":[[1]],"columns":["time"],"column_metadata":[],"nodes":[]}`, "cali-query"},
		{`{"data":[[1,5]],"columns":["time","path"],"column_metadata":[{"is_value":true},{"is_value":false}],"nodes":[]}`, "names node 5, but there are 0"},
		{`{"data":[],"columns":["time"],"column_metadata":[{}],"nodes":[{"label":"a","parent":0}]}`, "node 0 has the parent 0, which must come before it"},
		{"__rec=node,id=x\n", `x:1: a node needs an id of its own, got "x"`},
		{"__rec=node,id=1,attr=2\n__rec=other\n", "x:2: is not a record of nodes, ctx or globals"},
		{"2 templated_functions_MULTI_TIME\n\"main\" 1 0 5 5 0\n", "x:2: ends after 1 of 2 functions; the file is not complete"},
		{"1 templated_functions\nmain 1 0 5 5\n", "x:2: is not a row"},
		{"1 templated_functions\n\"main\" 1 0 5 5 0\n\"solve\" 1 0 5 5 0\n0 aggregates\n", "x:4: has more than the 1 functions that"},
		{"# darshan log version: 3.41\nPOSIX 5\n", "x:2: has 1 fields separated by tabs"},
		{"# darshan log version: 3.41\n# run time: 2POSIX\t0\t7\tPOSIX_READS\t3\tf\t/\text4\n", "x:2: POSIX_READS stands in a comment"},
		{"# darshan log version: 3.41\n", "has no line \"# nprocs: N\""},
		{`{"parameters":["p"],"measurements":{"f":{"t":[{"point":[1,2],"values":[3]}]}}}`, "x:1: f t: a point has 2 coordinates, but there are 1 parameters"},
		{`{"parameters":["p"],"measurements":{"f":{"t":[{"point":[1],"values":["a"]}]}}}`, `has "a" where a number was expected`},
		{`{"parameters":["p","p"],"measurements":{}}`, "the parameter p twice"},
		{`{"parameters":["p"],"measurements":{"f":`, "ends in the middle"},
		{`{"parameters":["p"],"measurements":{}} 5`, "goes on after the end"},
		{`{"parameters":["p"],"measurements":{}}`, "holds no measurement"},
		{`{"parameters":["p"],` + "\n" + `"measurements":{"f":{"t":[{"point":[1],"values":[1e999]}]}}}`, "too large"},
		{"PARAMETER p\nPOINTS (8 16\n", "x:2: POINTS has 1 opening"},
		{"PARAMETER p q\nPOINTS 8 16 17\n", "x:2: POINTS has 3 numbers"},
		{"PARAMETER p\nPOINTS 8\nDATA 1\nDATA 2\n", "x:4: DATA number 2"},
		{"PARAMETER p\nPOINTS 8\nDATA a\n", `x:3: "a" is not a number`},
		{"PARAMETER p\nNONSENSE\n", "x:2: unknown keyword"},
		{"p,value\n8,x\n", `x:2: "x" is not a number`},
		{"p,value\n8,1,2\n", "x:2: wrong number of fields"},
		{`{"params":{"p":1},"value":2}` + "\n" + `{"params":{"q":1},"value":2}`, "x:2: has the parameters q"},
		{`{"params":{"p":1,"p":2},"value":2}`, "given twice"},
		{measuredHeader + "imb,MPI_Scan,2,8,0,0,0,0,70,0,1,1\n", "x:2: repetition 0 of MPI_Scan has 1 of 2 ranks"},
		{measuredHeader + "imb,MPI_Scan,2,8,0,0,0,0,70,0,1,1\nimb,MPI_Scan,2,8,0,0,0,0,70,0,1,1\n",
			"x:3: rank 0 of repetition 0 of MPI_Scan is there twice"},
		{measuredHeader + "imb,MPI_Scan,2,8,0,0,2,0,70,0,1,1\n", "x:2: rank 2 is not one of 2 ranks"},
		{measuredHeader + "imb,MPI_Scan,2,8,0,0,0,80,70,0,1,1\n", "ends at 70 ns, before it began at 80 ns"},
		{measuredHeader + "imb,MPI_Scan,1,8,0,0,0,0,70,0,0,1\n", "executions 0"},
		{measuredHeader + "imb,MPI_Scan,1,8,0,0,0,0,x,0,1,1\n", `end_ns: "x" is not a whole number`},
		{measuredHeader + "imb,MPI_Scan,1,8,0,0,0,0\n", "x:2: wrong number of fields"},
		{measuredHeader + "imb,MPI_Scan,1,8,0,0,0,0,9,0,1,0\n", "holds no measurement"},
		{`{"slackline_dataset":7,"parameters":["p"],"series":[]}`, "version 7"},
	} {
		_, _, err := Read("x", []byte(tc.text), "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want something with %q", tc.text, err, tc.want)
		}
	}
	if _, _, err := Read("x", []byte("a\n"), "extrap"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestDirectory(t *testing.T) {
	osu := func(value string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("# OSU MPI Bcast Latency Test v7.3\n# Size       Avg Latency(us)\n8   " + value + "\n64  9\n")}
	}
	dir := fstest.MapFS{
		"osu.p16.r1.txt": osu("1"), "osu.p16.r2.txt": osu("2"), "osu.p4.r1.txt": osu("3"), "notes.md": {Data: []byte("hello")},
	}
	d, err := ReadDir("runs", dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "runs/notes.md is not in a known format") {
		t.Errorf("warnings %q", d.Warnings)
	}
	if err := d.Select("bytes", 8); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(d), "p\nBcast Avg Latency(us): [16]=[1 2] [4]=[3]\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if err := d.Select("p", 5); err == nil {
		t.Error("a value that was not measured was selected")
	}
	if _, err := ReadDir("none", fstest.MapFS{}, Options{}); err == nil {
		t.Error("an empty directory is no error")
	}
}

func TestPlaceOf(t *testing.T) {
	for name, want := range map[string]string{
		"osu.p64.r2.txt": "[p][64]", "mm.x10y20.r1": "[x y][10 20]", "a/b.p4/c.p8.txt": "[p][8]", "plain.txt": "[][]",
		"run7_n100":   "[run n][7 100]",
		"run.n1k.csv": "[n][1000]", "run.n1M_x.csv": "[n][1e+06]", "n2Ki": "[n][2048]", "n1.5GiB.p4": "[n p][1.610612736e+09 4]",
		"n1e3.csv": "[n][1000]", "n1.5E3p8": "[n p][1500 8]", "n1.e3": "[n e][1 3]", "n1k2": "[n k][1 2]", "p8cores.csv": "[p][8]",
		"n1m":               "[n][1]",
		"n1e999p2":          "[p][2]",
		"mm.x1.5y2,25z3.r1": "[x y z][1.5 2.25 3]", "mm.x22.5.y22.5.z1": "[x y z][22.5 22.5 1]",
	} {
		names, at := PlaceOf(name)
		if got := fmt.Sprint(names, at); strings.ReplaceAll(got, "] [", "][") != want {
			t.Errorf("PlaceOf(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	a, b := New("p"), New("p", "bytes")
	a.Get("Barrier", "t").Add([]float64{4}, 1)
	b.Get("Bcast", "t").Add([]float64{4, 8}, 2)
	b.Get("Bcast", "t").Add([]float64{4, 16}, 3)
	a.Merge(b)
	both := New()
	both.Merge(a)
	if err := both.Select("bytes", 8); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(both), "p\nBarrier t: [4]=[1]\nBcast t: [4]=[2]\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if err := a.Settle(); err != nil {
		t.Fatal(err)
	}
	if got, want := dump(a), "p bytes\nBcast t: [4 8]=[2] [4 16]=[3]\n"; got != want || len(a.Warnings) != 1 {
		t.Errorf("%swant\n%s%q", got, want, a.Warnings)
	}
	if s := a.Find("Bcast", ""); s == nil || a.Find("Bcast", "x") != nil || a.Find("nothing", "") != nil {
		t.Error("Find does not find")
	}
	path := New("p")
	path.Get("main->solve->MPI_Bcast", "t").Add([]float64{1}, math.Pi)
	for _, name := range []string{"main->solve->MPI_Bcast", "main/solve/MPI_Bcast", "MPI_Bcast"} {
		if path.Find(name, "t") == nil {
			t.Errorf("%s is not found", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, tc := range texts {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, format, err := Read("x", data, "")
		if err != nil {
			return
		}
		if len(d.Parameters) > MaxParameters {
			t.Fatalf("%s: %d parameters", format.Name, len(d.Parameters))
		}
		for _, s := range d.Series {
			for _, p := range s.Points {
				if len(p.At) != len(d.Parameters) || len(p.Values) == 0 {
					t.Fatalf("%s: a point %v with values %v over %v", format.Name, p.At, p.Values, d.Parameters)
				}
			}
		}
		if d.Settle() != nil {
			return
		}
		var b bytes.Buffer
		if err := d.WriteJSON(&b, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read("y", b.Bytes(), "slackline"); err != nil {
			t.Fatalf("%s: what was written is not read: %v", format.Name, err)
		}
	})
}

func TestMissing(t *testing.T) {
	d, _, err := Read("x", []byte(`{"parameters":["p"],"measurements":{"f":{"t":[{"point":[1],"values":[1,null]},{"point":[2],"values":[null]},{"point":[3],"values":[2]}]}}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dump(d), "p\nf t: [1]=[1] [3]=[2]\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if len(d.Warnings) != 1 || d.Warnings[0] != "f t: missing values are left out: 2" {
		t.Errorf("warnings %q", d.Warnings)
	}
}
