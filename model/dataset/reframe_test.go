package dataset_test

import "testing"

func TestReadReFrame(t *testing.T) {
	report := func(cases string) string {
		return `{"session_info":{"data_version":"4.0"},"runs":[{"testcases":[` + cases + `]}]}`
	}
	of := func(place, partition, environment, value string) string {
		return `{"name":"Solve","system":"c","partition":"` + partition + `","environ":"` + environment +
			`","num_tasks":4,"perfvalues":{"` + place + `time":[` + value + `,1,null,null,"s"]}}`
	}
	checkReading(t, "reframe", []reading{
		{name: "one partition and environment", input: report(of("c:gpu:", "gpu", "gnu", "1") + "," + of("c:gpu:", "gpu", "gnu", "2")),
			want: "p\nSolve time [s] [4]=[1 2]"},
		{name: "several partitions", input: report(of("c:gpu:", "gpu", "gnu", "1") + "," + of("c:cpu:", "cpu", "gnu", "2")),
			want: "p\nc:gpu->Solve time [s] [4]=[1]\nc:cpu->Solve time [s] [4]=[2]"},
		{name: "keys without a partition", input: report(of("", "gpu", "gnu", "1") + "," + of("", "cpu", "gnu", "2")),
			want: "p\nc:gpu->Solve time [s] [4]=[1]\nc:cpu->Solve time [s] [4]=[2]"},
		{name: "several systems", input: report(of("a:gpu:", "gpu", "gnu", "1") + "," + of("b:gpu:", "gpu", "gnu", "2")),
			want: "p\na:gpu->Solve time [s] [4]=[1]\nb:gpu->Solve time [s] [4]=[2]"},
		{name: "several environments", input: report(of("c:gpu:", "gpu", "gnu", "1") + "," + of("c:gpu:", "gpu", "intel", "2")),
			want: "p\ngnu->Solve time [s] [4]=[1]\nintel->Solve time [s] [4]=[2]"},
		{name: "several of both", input: report(of("c:gpu:", "gpu", "gnu", "1") + "," + of("c:cpu:", "cpu", "intel", "2")),
			want: "p\nc:gpu+gnu->Solve time [s] [4]=[1]\nc:cpu+intel->Solve time [s] [4]=[2]"},
		{name: "version 3", input: report(`{"name":"T","system":"c:gpu","environment":"gnu","num_tasks":2,"perfvars":[{"name":"t","unit":"s","value":1}]},` +
			`{"name":"T","system":"c:cpu","environment":"gnu","num_tasks":2,"perfvars":[{"name":"t","unit":"s","value":2}]}`),
			want: "p\nc:gpu->T t [s] [2]=[1]\nc:cpu->T t [s] [2]=[2]"},
	})
}
