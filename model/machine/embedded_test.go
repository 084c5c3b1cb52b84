package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/unit"
)

// The figures stand in the tables of the papers; times in ns, G in fs per byte.
func TestEmbedded(t *testing.T) {
	want := []struct {
		name        string
		l, o, g     int64
		perByte     unit.PerByte
		eager       int64
		noteSayings string
	}{
		{"altix", 1640, 990, 900, 1_230_000, 66560, "Table III"},
		{"chic", 5330, 770, 1560, 1_250_000, 66560, "Table III"},
		{"cnl", 4770, 2870, 2040, 2_670_000, 66560, "Table III"},
		{"cscs-testbed", 3000, 5000, 0, 18_000, 262144, "our choice"},
		{"piz-daint", 1400, 6030, 0, 13_000, 262144, "256 nodes"},
		{"piz-daint-32", 1400, 8500, 0, 13_000, 262144, "32 nodes"},
		{"piz-daint-64", 1400, 7400, 0, 13_000, 262144, "64 nodes"},
		{"xt4", 9900, 1750, 3400, 580_000, 66560, "Table III"},
		{"zeptoos", 8670, 3420, 2810, 2_690_000, 66560, "Table III"},
	}
	var names []string
	for _, w := range want {
		if w.name == "piz-daint" { // TestDGX has their figures
			names = append(names, "dgx-a100", "dgx-h100")
		}
		names = append(names, w.name)
		p := params(w.l, w.o, w.g, 0, 0, w.eager)
		p.PerByte = One(w.perByte)
		m, err := Named(w.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(m.Note, w.noteSayings) {
			t.Errorf("%s: the note %q does not say %q", w.name, m.Note, w.noteSayings)
		}
		expect := FromParams(w.name, p)
		expect.Note = m.Note
		if diff := cmp.Diff(expect, m); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", w.name, diff)
		}
	}
	if !slices.Equal(Names(), names) {
		t.Errorf("Names() = %v, want %v", Names(), names)
	}
}

func TestFind(t *testing.T) {
	if m, err := Find("chic"); err != nil || m.Name != "chic" {
		t.Errorf("Find(chic) = %v, %v", m, err)
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(plainMachine), 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err := Find(path); err != nil || m.Name != "mine" {
		t.Errorf("Find(file) = %v, %v", m, err)
	}
	const known = "altix, chic, cnl, cscs-testbed, dgx-a100, dgx-h100, piz-daint, piz-daint-32, piz-daint-64, xt4, zeptoos)"
	for _, tc := range []struct {
		call func(string) (*Machine, error)
		name string
		want string
	}{
		{Find, "chick", `machine "chick" is neither a file nor built in; did you mean chic? (built in: ` + known},
		{Find, "qqqqqqq", `machine "qqqqqqq" is neither a file nor built in (built in: ` + known},
		{Find, filepath.Join("no", "file.yaml"), `open no/file.yaml: no such file or directory`},
		{Named, "pizdaint", `unknown machine "pizdaint"; did you mean piz-daint? (known: ` + known},
		{Named, "", `unknown machine "" (known: ` + known},
		{Named, "../machines/chic", `unknown machine "../machines/chic"`},
	} {
		_, err := tc.call(tc.name)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestOverride(t *testing.T) {
	m, err := Load("testdata/together-00.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := string(Format(m))
	if same := (Override{}).Apply(m); !cmp.Equal(same, m) || !(Override{}).IsZero() {
		t.Error("an empty override changes something")
	}
	l, o, g := 5*ns, 6*ns, 7*ns
	perByte, cpu, eager := unit.PerByte(8), unit.PerByte(9), unit.Size(10)
	some := Override{Latency: &l, Overhead: &o}
	changed := some.Apply(m)
	for c := range changed.Classes {
		want := m.Classes[c]
		want.Latency, want.Overhead = l, One(o)
		if diff := cmp.Diff(want, changed.Classes[c]); diff != "" {
			t.Errorf("class %s: want -, got +:\n%s", Class(c), diff)
		}
	}
	if some.IsZero() || string(Format(m)) != before {
		t.Error("Apply changes its argument")
	}
	_, err = some.Machine("flags")
	if want := "without a machine, -g, -G must be given too"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	all := Override{&l, &o, &g, &perByte, &cpu, &eager}
	got, err := all.Machine("flags")
	want := FromParams("flags", Params{Latency: l, Gap: g, Overhead: One(o), PerByte: One(perByte), CPUByte: cpu, Eager: 10})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	if diff := cmp.Diff(all.Apply(m).Classes, want.Classes); diff != "" {
		t.Errorf("all replaced: %s", diff)
	}
}
