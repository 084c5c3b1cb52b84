package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slackline/internal/provenance"
	"slackline/model/trace/tracetest"
)

// An anonymous report holds no absolute path, host or user, in any of its texts; relative names and numbers stay.
func TestAnonymize(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	run := in.Runs[0]
	run.Name, run.Words = "/home/alice/runs/app.slt", []string{"/home/alice/runs/app.slt"}
	run.Properties.Command = []string{"/opt/secret/app", "--in=/home/alice/my data/x.nml", "input/local.nml"}
	run.Properties.Launch = []string{"srun", "--nodelist=node[7-9]", "-H", "node8:2,spare1.cluster.example", "/opt/secret/app", "-w", "5"}
	run.Properties.Machine = "node7.cluster.example"
	run.Timeline.Locations[0].Host, run.Timeline.Locations[1].Host = "node7.cluster.example", "node8"
	in.Warnings = []string{"/scratch/alice/tmp is full on node8", "alice may not read it", "node8.cluster.example wrote node8.log"}
	in.Record = &provenance.Record{Host: "login1", Command: []string{"slackline", "report", "/home/alice/runs/app.slt"}}
	a := in.Anonymize(nil, []string{"alice"})
	d := documentOf(t, in)
	a.Document(d)
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"alice", "/home", "/opt", "/scratch", "node7", "node8", "node[", "spare1", "cluster.example", "login1"} {
		if strings.Contains(string(data), bad) {
			t.Errorf("the report holds %q", bad)
		}
	}
	for _, good := range []string{"app.slt", "main/solve", "input/local.nml", "tmp is full on host",
		"srun --nodelist=hosts -H host", "app -w 5", ".log"} {
		if !strings.Contains(string(data), good) {
			t.Errorf("the report has lost %q", good)
		}
	}
}

// One host has one name, with and without its domain; two hosts have two.
func TestAnonymousHosts(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Warnings = []string{"a.site", "a", "b.site", "localhost", "b"}
	in.Anonymize([]string{"a.site", "b", "a", "localhost"}, nil)
	w := in.Warnings
	if w[0] != w[1] || w[0] == w[4] || strings.TrimSuffix(w[2], ".site") != w[4] || w[3] != "localhost" || w[0] == "a.site" {
		t.Errorf("hosts became %q", w)
	}
}

// TestAnonymousTexts: what becomes of single texts. Absolute paths lose all but their last name wherever they begin; addresses of the web,
// relative paths, fractions and units stay.
func TestAnonymousTexts(t *testing.T) {
	hosts, users := []string{"node7.cluster.example", "gpu-12"}, []string{"alice"}
	for text, want := range map[string]string{
		"":                                       "",
		"/home/alice/runs/app.slt":               "app.slt",
		"cannot read '/home/alice/x.slt': EOF":   "cannot read 'x.slt': EOF",
		"/home/alice/":                           "user",
		"/home/alice":                            "user",
		"from /a/b/c to /d/e/f.":                 "from c to f.",
		"LD_LIBRARY_PATH=/opt/x/lib:/home/y/lib": "LD_LIBRARY_PATH=lib",
		"--out=/scratch/p/x.json":                "--out=x.json",
		"n=4:/scratch/p/run":                     "n=4:run",
		"-I/opt/secret/include":                  "-Iinclude",
		"gcc -L/opt/secret/lib -lm":              "gcc -Llib -lm",
		"file:///home/alice/x.html":              "file:x.html",
		"//scratch/p/x.html":                     "x.html",
		"/scratch//p///x.html":                   "x.html",
		"see https://example.org/a/b/c":          "see https://example.org/a/b/c",
		"input/local/x.nml":                      "input/local/x.nml",
		"./a/b/c and ../d/e/f":                   "./a/b/c and ../d/e/f",
		"main/solve/MPI_Recv":                    "main/solve/MPI_Recv",
		"3/4 of 5 MB/s":                          "3/4 of 5 MB/s",
		"alice@node7":                            "user@host1",
		"alice's, (alice) alice.":                "user's, (user) user.",
		"malice and alice2":                      "malice and alice2",
		"node7, node7.cluster.example, node70":   "host1, host1, node70",
		"gpu-12: gpu-12.":                        "host2: host2.",
		"gpu-12.local.site":                      "host2",
		"node7.log":                              "host1.log",
		"localhost":                              "localhost",
	} {
		in := inputOf(t, tracetest.LateSender)
		in.Warnings = []string{text}
		in.Anonymize(hosts, users)
		if got := in.Warnings[0]; got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestAnonymousTwice: what is anonymous stays as it is.
func TestAnonymousTwice(t *testing.T) {
	in := inputOf(t, tracetest.LateSender)
	in.Warnings = []string{"/home/alice/a b/x on node7", "alice", "node7.x.y"}
	in.Anonymize([]string{"node7"}, []string{"alice"})
	once := strings.Join(in.Warnings, "\n")
	in.Anonymize(nil, []string{"alice"})
	if twice := strings.Join(in.Warnings, "\n"); twice != once {
		t.Errorf("%q became %q", once, twice)
	}
}
