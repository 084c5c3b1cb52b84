package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"16": "[16]", "1..4": "[1 2 3 4]", "2^1..2^4": "[2 4 8 16]", "10..30 step 10": "[10 20 30]", "1,3, 2^5": "[1 3 32]",
		"0.5..2 step 0.5": "[0.5 1 1.5 2]", "2^0..2^4 step 2": "[1 4 16]", "1_000": "[1000]", "2..2^2": "[2 3 4]",
	} {
		if got, err := parseValues(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "4..2", "2^1..2^2000", "0", "-1", "1..1e9", "1..4 step 0", "1e400", "2^x", "nan"} {
		if got, err := parseValues(text); err == nil {
			t.Errorf("%q = %v, want an error", text, got)
		}
	}
}

func TestExpressions(t *testing.T) {
	at := map[string]float64{"p": 16, "n": 100}
	for text, want := range map[string]float64{
		"p*n <= 1600": 1, "p*n < 1600": 0, "p/4 + 2*3": 10, "2^3^2": 512, "-p + 20": 4, "p = 16 and n != 100 or p > 8": 1,
		"(p+4)%3": 2, "1e2": 100, "n >= 100 and p == 16": 1, "1e-2*100": 1,
	} {
		e, err := parseExpression(text, []string{"p", "n"})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := e.value(at); got != want {
			t.Errorf("%q = %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "p+", "(p", "p)", "q", "p & n", "p p", "< 4", "1..2", strings.Repeat("(", 1000) + "p",
		strings.Repeat("-", 1000) + "p"} {
		if _, err := parseExpression(text, []string{"p", "n"}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		`a b  c`: {"a", "b", "c"}, `a "b c" 'd "e'`: {"a", "b c", `d "e`}, `a\ b ""`: {"a b", ""}, "a\n b": {"a", "b"},
	} {
		if got, err := splitWords(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", `a "b`, `a\`} {
		if _, err := splitWords(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if got := Quote([]string{"a b", "it's", "--n=4"}); got != `'a b' 'it'\''s' --n=4` {
		t.Errorf("Quote = %s", got)
	}
}

const goodPlan = `parameters:
  p: 2^1..2^3
  n: [10, 20]
only: p*n <= 80
repetitions: 2
command: ./solver --size {n} --each {n/p} '{{x}}'
launch: mpirun -n {p} {command}
environment: {OMP_NUM_THREADS: "{p*2}"}
cores: 2*p
timeout: 10m
budget: 5 core hours
metrics:
  - wall
  - {regex: 'time (?P<value>\d+)', metric: t}
`

func TestPlan(t *testing.T) {
	p, err := parsePlan("plan.yaml", []byte(goodPlan))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := p.ordered()
	if err != nil || len(runs) != 10 {
		t.Fatalf("%d runs, %v; want 10", len(runs), err)
	}
	last := runs[9]
	if got, want := Quote(last.words("/d")), "mpirun -n 8 ./solver --size 10 --each 1.25 '{x}'"; got != want {
		t.Errorf("command = %s, want %s", got, want)
	}
	if last.Name != "p8.n10.r2" || last.Cores != 16 || fmt.Sprint(last.environment("/d")) != "[OMP_NUM_THREADS=16]" {
		t.Errorf("run = %+v, environment %v", last, last.environment("/d"))
	}
	order := func(seed uint64) string {
		list, _ := p.runs(seed)
		var names []string
		for _, r := range list {
			names = append(names, r.Name)
		}
		return strings.Join(names, " ")
	}
	first, again := order(1), order(1)
	if first != again || first == order(2) {
		t.Error("the order does not depend on the seed, or not on it alone")
	}
}

func TestPlanMistakes(t *testing.T) {
	const head = "parameters: {p: 2^1..2^3}\ncommand: ./x {p}\n"
	for text, want := range map[string]string{
		"":                                                 "holds no plan",
		"parameters: {p: 4}":                               "has no command",
		head + "repititions: 4":                            `plan.yaml:3:1: unknown key "repititions"; did you mean repetitions?`,
		head + "program: x":                                "did you mean command (program)?",
		head + "only: q > 4":                               `there is no parameter "q"`,
		head + "only: p > 100":                             "no combination of the parameters passes",
		head + "repetitions: 0":                            "whole number from 1",
		head + "timeout: soon":                             "expected a time such as 90s",
		head + "metrics: [well]":                           `got "well"; did you mean wall?`,
		head + "metrics: [{regex: 'a(b'}]":                 "regex: missing closing",
		head + "metrics: [{regex: 'a(b)'}]":                "no named group",
		head + "metrics: [{output: oso}]":                  "did you mean osu?",
		head + "metrics: [{output: auto, file: out.txt}]":  "the same file in all runs",
		head + "metrics: [{metric: x}]":                    "comes from one of process, output and regex",
		head + "batch: {poll: 1s}":                         "batch has no meaning without",
		head + "launch: mpirun -n 4":                       "no word {command}",
		head + "budget: much":                              "core hours",
		head + "cores: p - 2":                              "cores: p - 2 is 0 at p = 2",
		head + "cores: 18446744073709551616":               "it must be a whole number from 1 to 2^31",
		"command: ./x {q}\nparameters: {p: 4}":             `{q}: there is no parameter "q"`,
		"command: ./x {p\nparameters: {p: 4}":              "opening brace without a closing one",
		"command: x\nparameters: {r: 4}":                   "expected letters as the name of a parameter",
		"command: x\nparameters: {p: 4..2}":                "expected the smaller end of a range first",
		"command: x\nlaunch: mpirun\nparameters: {n: 4}":   "there is no parameter p",
		"command: x\nparameters: {a: 1..1000, b: 1..1000}": "more than 100000 combinations",
	} {
		_, err := parsePlan("plan.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\nerror = %v\nwant %s", text, err, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	plan := `parameters: {p: [4]}
command: ./bin/solver {p}
metrics:
  - wall
  - {process: max_rss, callpath: main}
  - {regex: '^(?P<callpath>\w+) took (?P<time>[0-9.]+) s, (?P<visits>\d+) visits'}
  - {output: auto, file: "{dir}/bench.csv"}
`
	p, err := parsePlan("plan.yaml", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		stdoutFile: "hello\nsolve took 1.5 s, 3 visits\nexchange took 0.5 s, 7 visits\n", "bench.csv": "callpath,n,value\nf,10,8\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, _ := p.ordered()
	d, err := runs[0].measure(dir, dir, &result{Wall: 2.5, MaxRSS: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range d.Series {
		got = append(got, fmt.Sprint(s.Name(), s.Points[0].Values))
	}
	want := "solver time[2.5]; main max_rss[1000]; solve time[1.5]; solve visits[3]; exchange time[0.5]; exchange visits[7]; f[8]"
	if strings.Join(got, "; ") != want || fmt.Sprint(d.Parameters) != "[p n]" {
		t.Errorf("measurements over %v:\n%s, want\n%s", d.Parameters, strings.Join(got, "; "), want)
	}
	if err := os.WriteFile(filepath.Join(dir, stdoutFile), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := runs[0].measure(dir, dir, &result{}); err == nil || !strings.Contains(err.Error(), "nothing matches the regular expression") {
		t.Errorf("error = %v, want that nothing matches", err)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(goodPlan))
	f.Add([]byte("parameters: {p: 2^1..2^3}\ncommand: x\nlaunch: sbatch\nbatch: {options: ['-n{p}']}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePlan("plan.yaml", data)
		if err != nil {
			return
		}
		runs, err := p.ordered()
		if err != nil {
			t.Fatalf("a plan was accepted whose runs cannot be made: %v", err)
		}
		if len(runs) > 0 {
			runs[0].words("/dir")
			runs[0].environment("/dir")
		}
	})
}
