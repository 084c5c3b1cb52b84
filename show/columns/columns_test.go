package columns

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/needed"
	"slackline/model/trace"
	"slackline/model/unit"
)

// runOf reads and analyzes a trace.
func runOf(t *testing.T, path string) *Run {
	t.Helper()
	tr, err := trace.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := trace.ToTimeline(tr, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := waits.Analyze(t.Context(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewRun(result)
}

// traces are runs with messages, collectives, one-sided communication and threads.
func traces(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"waits/cases/*/traces.otf2", "waits2/cases/*/trace.txt"} {
		found, err := filepath.Glob(filepath.Join("../../testdata", pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		list = append(list, found...)
	}
	return list
}

// duckdb runs SQL statements by an engine that has nothing to do with the writer.
func duckdb(t *testing.T, statements []string) [][][]any {
	t.Helper()
	node := needed.Tool(t, "node", "nodejs")
	cache, err := os.UserCacheDir()
	needed.NoError(t, err)
	modules := filepath.Join(cache, "slackline-tests", "duckdb", "node_modules")
	_, err = os.Stat(filepath.Join(modules, "@duckdb", "node-api"))
	needed.NoError(t, err)
	asked, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), node, "testdata/query.js")
	c.Env = append(os.Environ(), "NODE_PATH="+modules)
	c.Stdin = strings.NewReader(string(asked))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][][]any
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// sum is a sum that must come out of a table.
type sum struct {
	statement string // with the name of the directory as %s
	want      []int64
}

// sumsOf are the sums of the tables of a run, taken from the documents that the verbs print as JSON.
func sumsOf(r *Run) []sum {
	waiting, delays := map[waits.Metric]unit.Duration{}, waits.Cost{}
	var all waits.Split
	d := r.Waits.Document()
	for i := range d.Waits {
		if w := &d.Waits[i]; w.PartOf == waits.None {
			waiting[w.Metric] += w.Amount
			all.Amount += w.Amount
			all.Direct += w.Direct
			all.Propagating += w.Propagating
		}
	}
	for i := range d.Delays {
		delays.Short += d.Delays[i].Short
		delays.Long += d.Delays[i].Long
	}
	var exclusive unit.Duration
	var visits, bytes int64
	for _, e := range r.Profile.Document(r.Profile.Composition(nil), nil, nil, nil, true).ByRank {
		exclusive += e.Exclusive
		bytes += e.SentBytes
		if e.Visits != nil {
			visits += *e.Visits
		}
	}
	var messages, size int64
	for _, l := range profile.Matrix(r.Waits.Timeline) {
		messages += l.Count
		size += l.Bytes
	}
	calls := 0
	for i := range r.Waits.Timeline.Locations {
		calls += r.Waits.Timeline.Locations[i].Calls.Len()
	}
	list := []sum{
		{"select sum(wait_ps), sum(direct_ps), sum(propagating_ps) from '%s/waits.parquet' where part_of is null",
			[]int64{int64(all.Amount), int64(all.Direct), int64(all.Propagating)}},
		{"select sum(short_ps), sum(long_ps) from '%s/delays.parquet'", []int64{int64(delays.Short), int64(delays.Long)}},
		{"select sum(exclusive_ps), sum(visits), sum(sent_bytes) from '%s/profile.parquet'", []int64{int64(exclusive), visits, bytes}},
		{"select count(*), sum(bytes) from '%s/messages.parquet'", []int64{messages, size}},
		{"select count(*) from '%s/calls.parquet'", []int64{int64(calls)}},
		{"select count(*) from '%s/collectives.parquet'", []int64{int64(len(r.Waits.Timeline.Members))}},
		{"select count(*) from '%s/locations.parquet'", []int64{int64(len(r.Waits.Timeline.Locations))}},
		{"select sum(critical_ps) from '%s/critical_profile.parquet'", []int64{int64(r.Critical.Length)}},
		{"select sum(to_ps - from_ps) from '%s/critical_path.parquet'", []int64{int64(r.Critical.Length)}},
	}
	for m, amount := range waiting {
		list = append(list, sum{"select sum(wait_ps) from '%s/waits.parquet' where metric = '" + m.String() + "'", []int64{int64(amount)}})
	}
	return list
}

// Every table gives the same sums as the JSON of the verbs, to the picosecond.
func TestSumsInDuckDB(t *testing.T) {
	needed.Full(t, "a database")
	var statements []string
	var want [][]int64
	for _, path := range traces(t) {
		r := runOf(t, path)
		dir := filepath.Join(t.TempDir(), "tables")
		if _, err := WriteDir(t.Context(), dir, false, r); err != nil {
			t.Fatal(path, err)
		}
		for _, s := range sumsOf(r) {
			statements = append(statements, fmt.Sprintf(s.statement, dir))
			want = append(want, s.want)
		}
	}
	if len(statements) < 200 {
		t.Fatalf("only %d sums", len(statements))
	}
	for i, rows := range duckdb(t, statements) {
		var got []int64
		for _, v := range rows[0] {
			n, err := strconv.ParseInt(strings.TrimSuffix(fmt.Sprint(v), ".0"), 10, 64)
			if v == nil { // the sum of no rows
				n, err = 0, nil
			}
			if err != nil {
				t.Fatal(statements[i], err)
			}
			got = append(got, n)
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("%s = %d, want %d", statements[i], got, want[i])
		}
	}
}

// Calls know the call that they are in, and every column says what it means.
func TestCallsHaveTheirParents(t *testing.T) {
	r := runOf(t, "../../testdata/waits/cases/01-figure3/traces.otf2")
	path := filepath.Join(t.TempDir(), "calls.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(Tables, func(t Table) bool { return t.Name == "calls" })
	if _, err := Tables[at].Write(f, r, t.Context().Err); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[callRow](path)
	if err != nil {
		t.Fatal(err)
	}
	nested := 0
	for _, row := range rows {
		if row.Parent < 0 {
			continue
		}
		parent := slices.IndexFunc(rows, func(p callRow) bool { return p.Rank == row.Rank && p.Thread == row.Thread && p.Call == row.Parent })
		p := rows[parent]
		if p.CallPath+"/"+row.Name != row.CallPath || p.Enter > row.Enter || p.Leave < row.Leave {
			t.Errorf("call %d of rank %d, %s, is not inside of call %d, %s", row.Call, row.Rank, row.CallPath, p.Call, p.CallPath)
		}
		nested++
	}
	if nested == 0 {
		t.Error("no call is inside of another one")
	}
}

// An interrupt leaves nothing.
func TestInterruptLeavesNothing(t *testing.T) {
	r := runOf(t, "../../testdata/waits/cases/01-figure3/traces.otf2")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parent := t.TempDir()
	if _, err := WriteDir(ctx, filepath.Join(parent, "tables"), false, r); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestColumnsAreDescribed(t *testing.T) {
	for _, table := range Tables {
		names := map[string]bool{}
		for _, c := range table.Columns {
			if c.Meaning == "" || c.Name == "" || names[c.Name] || reflect.ValueOf(c.Type).IsZero() {
				t.Errorf("column %q of %s: name, type or meaning is missing or not unique", c.Name, table.Name)
			}
			names[c.Name] = true
			if strings.HasSuffix(c.Name, "_ps") && (c.Unit != "ps" || c.Type != "int64") {
				t.Errorf("column %s of %s has unit %q and type %s", c.Name, table.Name, c.Unit, c.Type)
			}
		}
	}
}
