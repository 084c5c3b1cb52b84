package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// No reader loses data without a word: what it does not understand is an error with its place, or is counted.
func TestNothingIsLostSilently(t *testing.T) {
	const imb = "# Benchmarking Allreduce\n# #processes = 4\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1 3 2\n" +
		"16 1000 2 4 3\n\n" +
		"# Benchmarking Bcast\n# #processes = 4\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1 3 2\n"
	const osu = "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n8      11.49\n16      12.5\n"
	const full = "# OSU MPI Bcast Latency Test v7.3\n# Size    Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n" +
		"8   5.00   4.00   6.00   100\n16   6.00   5.00   7.00   100\n"
	const nccl = "# Collective test starting: all_reduce_perf\n" +
		"#  Rank  0 Group  0 Pid   1 on n device  0\n#  Rank  1 Group  0 Pid   2 on n device  1\n" +
		"#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n" +
		"     1048576        262144     float     sum      -1    64.00   16.38   16.38      0    65.54   16.00   16.00      0\n" +
		"     2097152        524288     float     sum      -1   128.00   16.38   16.38      0   131.07   16.00   16.00      0\n"
	const tests = "goos: linux\npkg: x\nBenchmarkSort/n=8-8   500   5 ns/op\nBenchmarkSort/n=16-8   500   9 ns/op\nPASS\nok  \tx\t2.3s\n"
	const pytest = `{"machine_info":{},"commit_info":{},"benchmarks":[{"fullname":"t.py::f[8]","params":{"n":8},` +
		`"stats":{"mean":2,"rounds":3,"data":[1,2,3]}}],"version":"4"}`
	const reframe = `{"session_info":{},"runs":[{"num_cases":1,"testcases":[{"name":"T","num_tasks":4,"perfvalues":{"s:p:time":[2,1,null,null,"s"]}}]}]}`
	const tau = "2 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n\"main\" 1 1 100 5000 0 GROUP=\"A\"\n" +
		"\"main => f\" 8 0 4900 4900 0 GROUP=\"B\"\n0 aggregates\n"
	const noise = "go version\nBenchmarkSort/n=1024-8   500   2345678 ns/op\nBenchmarkSort/n=2048-8   500   5345678 ns/op\n"
	const google = `{"benchmarks":[{"name":"BM/8","real_time":1,"cpu_time":1},
{"name":"BM/16","real_time":2,"cpu_time":2}]}`
	const repeated = `{"benchmarks":[{"name":"BM/8","repetitions":2,"repetition_index":0,"real_time":1,"cpu_time":1},
{"name":"BM/8","repetitions":2,"repetition_index":1,"real_time":2,"cpu_time":2}]}`
	const darshan = "# darshan log version: 3.41\n# nprocs: 4\n# run time: 2\nPOSIX\t0\t7\tPOSIX_READS\t3\tf\t/\text4\n" +
		"POSIX\t0\t7\tPOSIX_OPENS\t4\tf\t/\text4\n"
	const cali = "__rec=node,id=13,attr=8,data=region,parent=12\n__rec=node,id=14,attr=13,data=main\n" +
		"__rec=node,id=20,attr=8,data=time,parent=5\n" +
		"__rec=ctx,ref=14,attr=20,data=1\n__rec=ctx,ref=14,attr=20,data=1.5\n__rec=node,id=30,attr=8,data=mpi.world.size\n" +
		"__rec=globals,attr=30,data=4\n"
	const caliper = `{"data":[[0.5,0],[0.25,1]],"columns":["time","path"],"column_metadata":[{"is_value":true},{"is_value":false}],
"nodes":[{"label":"main"},{"label":"solve","parent":0}],"mpi.world.size":"8"}`
	const text = "PARAMETER p\nPOINTS 8\nMETRIC time\nREGION f\nDATA 1\nREGION g\nDATA 2\n"
	const own = "{\"slackline_dataset\":1,\"parameters\":[\"p\"],\"series\":[\n{\"callpath\":\"f\",\"metric\":\"m\",\"points\":[\n" +
		"{\"at\":[1],\"values\":[1]},\n{\"at\":[2],\"values\":[2]}]}]}"
	part := strings.Replace(own, `"points"`, `"runs":[{"run":"x","incomplete_ranks":1}],"points"`, 1)
	early := strings.Replace(part[:len(part)-1], `"parameters":["p"],`, "", 1) + `,"parameters":["p"]}`
	const extrap = "{\"parameters\":[\"p\"],\"measurements\":{\"f\":{\"time\":[\n{\"point\":[1],\"values\":[1]},\n" +
		"{\"point\":[2],\"values\":[2]}]}}}"
	const lines = `{"params":{"p":1},"callpath":"f","metric":"m","value":1}
{"params":{"p":2},"callpath":"f","metric":"m","value":2}
`
	const old = `{"parameters":[{"id":1,"name":"p"}],"metrics":[{"id":0,"name":"m"}],"callpaths":[{"id":0,"name":"f"}],
"coordinates":[{"id":0,"parameter_value_pairs":[{"parameter_id":1,"parameter_value":2}]}],
"measurements":[{"callpath_id":0,"metric_id":0,"coordinate_id":0,"value":3}]}`
	const waits = `{"waits":[{"metric":"late_sender","callpath":"f","seconds":1}],"delays":[{"callpath":"f","short_s":1,"long_s":0}],"run":{"ranks":2,"time_s":3}}`
	const simulation = `{"input":"x","ranks":2,"makespan_ns":3}`
	for _, tc := range []struct {
		format, good, from, to string
		want                   string // part of the error, or of a warning
	}{
		{"slackline", own, `{"at":[2],"values"`, `{"at":[2],"value"`, `:4: unknown key "value" in points; did you mean values?`},
		{"slackline", own, `{"at":[2],"values":[2]}`, `{"at":[2]}`, `:4: a point has no "values"`},
		{"slackline", own, `{"at":[2],"values":[2]}`, `{"values":[2]}`, `:4: a point has no "at"`},
		{"slackline", own, `{"at":[2],"values":[2]}`, `{"at":[2],"values":[2],"values":[3]}`, `:4: the key "values" is there twice in one object`},
		{"slackline", own, `{"at":[2],"values":[2]}`, `{"at":[2],"values":[]}`, "f m: missing values are left out: 1"},
		{"slackline", own, `"metric"`, `"metrics"`, `:2: unknown key "metrics" in series; did you mean metric?`},
		{"slackline", own, `"metric"`, `"of"`, `:2: unknown key "of" in a series; the keys are callpath, metric`},
		{"slackline", own, `"series"`, `"serie"`, `:1: unknown key "serie"; did you mean series?`},
		{"slackline", own, `"series"`, `"lists"`, `has no "series"`},
		{"slackline", own, `"parameters"`, `"parametres"`, `:1: unknown key "parametres"; did you mean parameters?`},
		{"slackline", part, `"incomplete_ranks"`, `"incomplete_rnks"`, `:2: unknown key "incomplete_rnks" in runs; did you mean incomplete_ranks?`},
		{"slackline", part, `"incomplete_ranks"`, `"lost"`, `:2: unknown key "lost"`},
		{"slackline", early, `"incomplete_ranks"`, `"lost"`, `:2: unknown key "lost"`},
		{"extrap-json", extrap, `{"point":[2],"values"`, `{"point":[2],"value"`, `:3: unknown key "value"`},
		{"extrap-json", extrap, `{"point":[2],"values":[2]}`, `{"point":[2]}`, `:3: a point has no "values"`},
		{"jsonl", lines, `{"p":2},"callpath":"f","metric"`, `{"p":2},"callpath":"f","metrics"`, `:2: is not a line`},
		{"jsonl", lines, `{"p":2},"callpath":"f","metric":"m","value"`, `{"p":2},"callpath":"f","metric":"m","values"`, ":2: "},
		{"extrap-old", old, `"metric_id":0,`, ``, "measurement 1 (from 1) has no callpath_id, metric_id or coordinate_id"},
		{"extrap-old", old, `"parameter_id":1,`, ``, "without parameter_id"},
		{"google", google, `"BM/16","real_time":2`, `"BM/16"`,
			"entries without real_time or cpu_time, which are left out there: 1; the first is entry 2, BM/16"},
		{"google", repeated, `"repetition_index":1`, `"repetition_index":0`,
			"repetitions (repetition_index) that were there before: 1; the first is entry 2, BM/8"},
		{"google", repeated, `"repetitions":2,"repetition_index":1`, `"repetitions":3,"repetition_index":1`,
			"benchmarks with fewer entries than repetitions: 1; the first is BM/8 with 2 of 3"},
		{"google", repeated, `"name":"BM/8","repetitions":2,"repetition_index":1`,
			"\"name\":\"BM/8\xff\",\"repetitions\":2,\"repetition_index\":1",
			"x:2: is not UTF-8 text: is the file damaged?"},
		{"extrap-json", extrap, `"time"`, `""`, "x: a series has no name of its call path or metric: is the file damaged?"},
		{"darshan", darshan, "POSIX\t0\t7\tPOSIX_OPENS", "PO\tSIX\t0\t7\tPOSIX_OPENS", `:5: the rank is "SIX" and the record "0"`},
		{"darshan", darshan, "POSIX_OPENS\t4", "POSIX_READS\t4", ":5: POSIX_READS of module POSIX, rank 0 and record 7 is there twice"},
		{"darshan", darshan, "POSIX\t0\t7\tPOSIX_OPENS\t4\tf\t/\text4\n", "# darshan log version: 3.41\n", ":5: a second log begins"},
		{"cali", cali, "attr=20,data=1.5", "attr=20=20,data=1.5", ":5: has 2 attributes (attr) and 1 values (data)"},
		{"cali", cali, "attr=20,data=1.5", "attr=20,=1.5", `:5: unknown field ""; a record has __rec, id,`},
		{"cali", cali, "data=1.5", "data=1e999", "values that are not numbers are left out: 1; the first is time in the record ctx 2"},
		{"cali", cali, "ref=14,attr=20,data=1.5", "ref=20,attr=14,data=1.5", `:5: node "14" is not an attribute`},
		{"cali", cali, "attr=20,data=1.5", "attr=2,data=1.5", `:5: node "2" is not an attribute`},
		{"cali", cali, "attr=20,data=1.5", "attr=-20,data=1.5", `:5: node "-20" is not an attribute`},
		{"cali", cali, "data=1\n__rec=", "data=1__rec=", `:4: has the field "data" twice; are these two records?`},
		{"cali", cali, "data=4", "data=-4", `:7: mpi.world.size is "-4"; it is a number above 0`},
		{"caliper", caliper, "[0.25,1]", "[1e999,1]", "values that are not numbers are left out: 1; the first is time in row 2"},
		{"caliper", caliper, "[0.25,1]", "[0.25,1e0]", `row 2 of "data" names node 1e0, but there are 2`},
		{"caliper", caliper, `"8"`, `"8x"`, `mpi.world.size is "8x"; it is a number above 0`},
		{"darshan", darshan, "run time: 2", "run time: -2", `:3: run time is "-2"; it is a number from 0 on`},
		{"darshan", darshan, "nprocs: 4", "nprocs: 4x", `:2: nprocs is "4x"; it is a number from 0 on`},
		{"darshan", darshan, "POSIX_OPENS\t4", "POSIX_OPENS\t-4", ":5: POSIX_OPENS is -4, below 0"},
		{"nccl", nccl, "2097152 ", "2e999999 ", `:6: "2e999999" is not a number`},
		{"nccl", nccl, "2097152 ", "x2097152 ", `:6: "x2097152" is not a number`},
		{"cali", cali, "ref=14", "ref=41", `:4: refers to node "41", which is not defined before`},
		{"extrap-text", text, "REGION g\nDATA 2\n", "REGION g\n", `regions without a line DATA (is the file cut?): 1; the first is "g"`},
		{"extrap-text", text, "REGION g\n", "REGION h\nREGION g\n", `regions without a line DATA (is the file cut?): 1; the first is "h"`},
		{"extrap-json", extrap, `"f":{"time"`, `"g":{},"h":{"time":[]},"f":{"time"`,
			"call paths or metrics without a point: 2; the first is g"},
		{"osu", osu, "# OSU MPI", "8  11.49\n# OSU MPI",
			"rows of numbers before the first title (# OSU ... Test) are left out: 1; the first is line 1"},
		{"nccl", nccl, "#       size", "     1048576        262144     float     sum      -1    64.00   16.38   16.38      0\n#       size",
			"rows of numbers before the names of the columns are left out: 1; the first is line 4"},
		{"nccl", nccl, "time   algbw   busbw #wrong     time", "tme   algbw   busbw #wrong     time", ":4: the names of columns are damaged"},
		{"pytest", pytest, `[1,2,3]`, `[]`, "rounds or mean is not that of their data"},
		{"pytest", pytest, `"benchmarks":[`, `"benchmarks":[{"fullname":"t.py::f[8]","params":{"n":8},"stats":{"mean":2}},`,
			"tests that were there before: 1; the first is entry 2, t.py::f[8]"},
		{"reframe", reframe, `[2,1,null,null,"s"]`, `[2,null,null,"s"]`,
			"performance values that are not [value, reference, lower, upper, unit] (are they damaged?): 1; the first is T s:p:time"},
		{"reframe", reframe, `"name":"T"`, `"nam":"T"`, "x: test case 1 of a run has no name"},
		{"imb", imb, "# Benchmarking Bcast", "# Bnchmarking Bcast", `:8: the block that begins here has no line "# Benchmarking NAME"`},
		{"imb", imb, "t_avg[usec]\n8 1000", "t_avg[usec\n8 1000 7", ":4: has 6 numbers below 5 columns"},
		{"imb", imb, "#bytes #repetitions", "#byts #repetitions", ":4: a row of the block of Allreduce comes before the names"},
		{"imb", imb, "# #processes", "# #process", `:4: the block of Allreduce has no line "# #processes = N"`},
		{"imb", imb, "16 1000 2 4 3", "16 1000 2 4", ":5: has 4 numbers below 5 columns"},
		{"imb", imb, "16 1000 2 4 3", "16 1000 2 x 3", `:5: "x" is not a number`},
		{"imb", imb, "16 1000 2 4 3", "x16 1000 2 4 3", `:5: "x16" is not a number`},
		{"imb", imb, "16 1000 2 4 3", "killed by signal", "not rows of numbers are left out: 1; the first is line 5"},
		{"imb", imb, "t_min[usec]", "t_mni[usec]", `columns with unknown names are left out: 1; the first is "t_mni[usec]" in line 3`},
		{"imb", imb, "16 1000 2 4 3\n\n", "16 1000 2 4 3\n\n# Benchmarking Scan\n# #processes = 4\n\n",
			"blocks without rows: 1; the first is Scan"},
		{"osu", osu, "# OSU MPI Allreduce Latency Test", "# OSU MPI Allreduce Latency Tst", ":1: is not a title"},
		{"osu", osu, "# Size       Avg Latency(us)", "# Size       Avg Latency", ":3: a row of Allreduce comes before the names"},
		{"osu", osu, "16      12.5", "16", ":4: has 1 numbers below 2 columns"},
		{"osu", osu, "16      12.5", "1x6      12.5", `:4: "1x6" is not a number`},
		{"osu", osu, "16      12.5", "mpirun: killed", "left out: 1; the first is line 4"},
		{"gobench", noise, "n=2048-8   500 ", "n=2048-8   5o0 ",
			"lines of benchmarks without a result are left out: 1; the first is line 3"},
		{"gobench", noise, "5345678 ns/op", "5345678 ns/op 16", ":3: has a value without a unit"},
		{"osu", full, "16   6.00", "8   6.00",
			"of a size that is in the same table already (is a line there twice?): 1; the first is line 4"},
		{"osu", full, "5.00   4.00", "50.0   4.00",
			"rows whose mean is not between minimum and maximum (are they damaged?): 1; the first is line 3"},
		{"osu", full, "5.00   4.00", "5.00   5.50",
			"rows whose mean is not between minimum and maximum (are they damaged?): 1; the first is line 3"},
		{"imb", imb, "8 1000 1 3 2", "8 1000 1 3 4",
			"rows whose mean is not between minimum and maximum (are they damaged?): 1; the first is line 4"},
		{"imb", imb, "16 1000 2 4 3", "8 1000 2 4 3",
			"of a size that is in the same table already (is a line there twice?): 1; the first is line 5"},
		{"nccl", nccl, "Rank  1", "Rank  2", ":3: the line of rank 2 follows that of rank 0; lines are lost or twice"},
		{"nccl", nccl, "64.00   16.38", "640.0   16.38",
			"rows whose bandwidth (algbw) is not size divided by time (are they damaged?): 1; the first is line 5"},
		{"nccl", nccl, "131.07   16.00", "131.07   61.00", "(are they damaged?): 1; the first is line 6"},
		{"nccl", nccl, "2097152 ", "1048576 ", "of a size that is in the same table already"},
		{"gobench", tests, "PASS\nok  \tx\t2.3s\n", "", "neither PASS nor FAIL follows the last benchmark"},
		{"gobench", tests, "PASS\n", "--- FAIL: BenchmarkSort/n=32-8\nFAIL\n", "x: benchmarks that failed: 1; the first is BenchmarkSort/n=32-8"},
		{"gobench", tests, "500   9 ns/op\nPASS\nok  \tx\t2.3s\n", "", "neither PASS nor FAIL follows the last benchmark"},
		{"gobench", tests, "BenchmarkSort/n=16", "benchmarkSort/n=16", "without a result are left out: 1; the first is line 4"},
		{"osu", osu, "12.5\n", "1",
			"x:4: the last line has no end: is the file cut, perhaps within a number? If it is whole, end it with a line break"},
		{"imb", imb, "\n\n# Benchmarking Bcast\n# #processes = 4\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1 3 2\n", "",
			"x:5: the last line has no end"},
		{"nccl", nccl, "131.07   16.00   16.00      0\n", "131.07   16.00   16.00      0", "x:6: the last line has no end"},
		{"gobench", tests, "\t2.3s\n", "", "x:6: the last line has no end"},
		{"darshan", darshan, "\text4\nPOSIX\t0\t7\tPOSIX_OPENS\t4\tf\t/\text4\n", "\text4\nPOSIX\t0\t7\tPOSIX_OPENS\t4",
			"x:5: the last line has no end"},
		{"cali", cali, "data=4\n", "data=4", "x:7: the last line has no end"},
		{"tau", tau, "aggregates\n", "aggregates", "x:5: the last line has no end"},
		{"extrap-text", text, "DATA 2\n", "DATA 2", "x:7: the last line has no end"},
		{"csv", "callpath,p,value\nf,1,1\nf,2,20\n", "0\n", "", "x:3: the last line has no end"},
		{"measured", measuredHeader + "imb,A,1,8,0,0,0,0,9,0,1,1\nimb,A,1,8,0,1,0,0,9,0,1,10\n", "0\n", "", "x:3: the last line has no end"},
		{"pytest", pytest, `[1,2,3]`, `[1,2.5,3]`,
			"rounds or mean is not that of their data (are they damaged?): 1; the first is entry 1, t.py::f[8]"},
		{"pytest", pytest, `[1,2,3]`, `[1,3]`, "rounds or mean is not that of their data"},
		{"reframe", reframe, `"num_cases":1`, `"num_cases":2`, "x: a run announces 2 test cases (num_cases), and has 1"},
		{"tau", tau, `0 GROUP="B"`, "64", `:4: some rows of functions have a GROUP and others not`},
		{"csv", "callpath,p,value\nf,1,1\nf,2,2\n", "f,2,2", "g,2,", "g: missing values are left out: 1"},
		{"csv", "callpath,p,value\nf,1,1\nf,2,2\n", "callpath,p", "callpath,function,p", "both are the callpath"},
		{"waits", waits, `"seconds":1`, `"amount":1`, "wait 1 (from 1), in f, has no seconds"},
		{"waits", waits, `"seconds":1`, `"secnds":1`, `x:1: unknown key "secnds" in waits; did you mean seconds?`},
		{"waits", waits, `"short_s":1`, `"cost":1`, "delay 1 (from 1)"},
		{"waits", `{"waits":[],"delays":[],"run":{"ranks":2,"time_s":3},"callpaths":[{"callpath":"f"},{"callpath":"g"}]}`, `"g"`, `"f"`,
			"x: the call path f is in callpaths twice (entries 1 and 2, from 1): write the result again"},
		{"profile", `{"run":{"ranks":2,"time_s":3},"composition":[],"callpaths":[{"callpath":"f","exclusive_s":1},{"callpath":"g","exclusive_s":1}]}`,
			`"g"`, `"f"`, "x: the call path f is in callpaths twice (entries 1 and 2, from 1)"},
		{"profile", `{"run":{"ranks":2,"time_s":3},"composition":[],"callpaths":[{"callpath":"f","exclusive_s":1}]}`, `exclusive_s`, `seconds`,
			"call path 1 (from 1), f, has no exclusive_s"},
		{"simulation", simulation, `"ranks":2`, `"rnak":2`, `x:1: unknown key "rnak"; did you mean ranks?`},
		{"simulation", simulation, `"ranks":2`, `"processes":2`, "how many ranks"},
		{"simulation", `{"input":"x","results":[{"ranks":2,"noiseless_ns":1,"median_ns":3}]}`, `median_ns`, `middle_ns`,
			"result 1 (from 1) has no ranks"},
	} {
		t.Run(fmt.Sprintf("%s/%s", tc.format, tc.to), func(t *testing.T) {
			d, f, err := Read("x", []byte(tc.good), "")
			if err != nil || f.Name != tc.format || len(d.Warnings) > 0 {
				t.Fatalf("the undamaged text: read as %s, error %v, warnings %q", f.Name, err, d.Warnings)
			}
			if tc.want == "" {
				return
			}
			bad := strings.Replace(tc.good, tc.from, tc.to, 1)
			if bad == tc.good {
				t.Fatal("nothing was damaged")
			}
			d, _, err = Read("x", []byte(bad), tc.format)
			said := fmt.Sprint(err)
			if err == nil {
				said = strings.Join(d.Warnings, "\n")
			}
			if !strings.Contains(said, tc.want) {
				t.Errorf("said %q, want %q", said, tc.want)
			}
		})
	}
}

// What is beyond the number of warnings that are kept is counted.
func TestWarningsAreCounted(t *testing.T) {
	d := New()
	for i := range maxWarnings + 7 {
		d.warnf("warning %d", i)
	}
	if last := d.Warnings[len(d.Warnings)-1]; len(d.Warnings) != maxWarnings+1 || last != "and 7 more warnings of this kind" {
		t.Errorf("%d warnings, the last is %q", len(d.Warnings), last)
	}
}
