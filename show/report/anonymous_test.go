package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slackline/internal/provenance"
)

// An anonymous report holds no absolute path, host or user, in any of its texts; relative names and numbers stay.
func TestAnonymize(t *testing.T) {
	in := inputOf(t, lateSender)
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
	in := inputOf(t, lateSender)
	in.Warnings = []string{"a.site", "a", "b.site", "localhost", "b"}
	in.Anonymize([]string{"a.site", "b", "a", "localhost"}, nil)
	w := in.Warnings
	if w[0] != w[1] || w[0] == w[4] || strings.TrimSuffix(w[2], ".site") != w[4] || w[3] != "localhost" || w[0] == "a.site" {
		t.Errorf("hosts became %q", w)
	}
}
