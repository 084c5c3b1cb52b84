package columns

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/arrowfile/arrowtest"
	"slackline/internal/columnfile"
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

//go:embed testdata/query.js
var query string

// duckdb runs SQL statements by an engine that has nothing to do with the writer.
func duckdb(t *testing.T, statements []string) [][][]any {
	t.Helper()
	var answers [][][]any
	needed.Node(t, query, []string{"@duckdb/node-api"}, statements, &answers)
	return answers
}

// sum is a sum that must come out of a table.
type sum struct {
	statement string
	want      []int64
}

// sumsOf are the sums of the tables of a run, taken from the documents that the verbs print as JSON.
func sumsOf(r *Run) []sum {
	waiting, delays := map[waits.Metric]unit.Duration{}, waits.Cost{}
	var all waits.Split
	d := r.Waits.Document()
	for i := range d.Waits {
		if w := &d.Waits[i]; w.PartOf == waits.None {
			waiting[w.Metric] += w.Amount.Duration()
			all.Amount.AddSum(w.Amount)
			all.Direct.AddSum(w.Direct)
			all.Propagating.AddSum(w.Propagating)
		}
	}
	for i := range d.Delays {
		delays.Short.AddSum(d.Delays[i].Short)
		delays.Long.AddSum(d.Delays[i].Long)
	}
	var exclusive unit.Duration
	var visits, bytes int64
	for _, e := range r.Profile.Document(r.Profile.Composition(nil), nil, nil, nil, true).ByRank {
		exclusive += e.Exclusive.Duration()
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
		{"select sum(wait_ps), sum(direct_ps), sum(propagating_ps) from waits where part_of is null",
			[]int64{int64(all.Amount.Duration()), int64(all.Direct.Duration()), int64(all.Propagating.Duration())}},
		{"select sum(short_ps), sum(long_ps) from delays", []int64{int64(delays.Short.Duration()), int64(delays.Long.Duration())}},
		{"select sum(exclusive_ps), sum(visits), sum(sent_bytes) from profile", []int64{int64(exclusive), visits, bytes}},
		{"select count(*), sum(bytes) from messages", []int64{messages, size}},
		{"select count(*) from calls", []int64{int64(calls)}},
		{"select count(*) from collectives", []int64{int64(len(r.Waits.Timeline.Members))}},
		{"select count(*) from locations", []int64{int64(len(r.Waits.Timeline.Locations))}},
		{"select sum(critical_ps) from critical_profile", []int64{int64(r.Critical.Length)}},
		{"select sum(to_ps - from_ps) from critical_path", []int64{int64(r.Critical.Length)}},
	}
	for m, amount := range waiting {
		list = append(list, sum{"select sum(wait_ps) from waits where metric = '" + m.String() + "'", []int64{int64(amount)}})
	}
	return list
}

// Every table gives the same sums as the JSON of the verbs, to the picosecond: Parquet in DuckDB, Arrow in Polars.
func TestSums(t *testing.T) {
	needed.Full(t, "a database")
	var statements []string
	var questions []arrowtest.Question
	var want [][]int64
	from := regexp.MustCompile(`from (\w+)`)
	for _, path := range traces(t) {
		r := runOf(t, path)
		dirs := writeBoth(t, r)
		for _, s := range sumsOf(r) {
			statements = append(statements, from.ReplaceAllString(s.statement, "from '"+dirs[columnfile.Parquet]+"/$1.parquet'"))
			questions = append(questions, arrowtest.Question{Dir: dirs[columnfile.Arrow], Statement: s.statement})
			want = append(want, s.want)
		}
	}
	if len(statements) < 200 {
		t.Fatalf("only %d sums", len(statements))
	}
	for by, answers := range map[string][][][]any{"DuckDB": duckdb(t, statements), "Polars": arrowtest.Query(t, questions)} {
		for i, rows := range answers {
			var got []int64
			for _, v := range rows[0] {
				n := int64(0) // the sum of no rows
				if v != nil {
					var err error
					if n, err = strconv.ParseInt(strings.TrimSuffix(fmt.Sprint(v), ".0"), 10, 64); err != nil {
						t.Fatal(by, questions[i], err)
					}
				}
				got = append(got, n)
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %s = %d, want %d", by, questions[i], got, want[i])
			}
		}
	}
}

// writeBoth writes the tables of a run in all formats and returns the directories.
func writeBoth(t *testing.T, r *Run) map[columnfile.Format]string {
	t.Helper()
	dirs := map[columnfile.Format]string{}
	for _, f := range columnfile.Formats() {
		dirs[f] = filepath.Join(t.TempDir(), string(f))
		if _, err := WriteDir(t.Context(), dirs[f], f, false, r); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// arrowTypes are the names that Arrow's library has for types of columns.
var arrowTypes = map[string]string{
	"int32": "Int32", "int64": "Int64", "float64": "Float64", "bool": "Bool", "string": "Dictionary<Int32, Utf8>",
}

// Arrow files have the rows of the Parquet files, in the same order, and describe their columns.
func TestArrowIsParquet(t *testing.T) {
	needed.Full(t, "a database")
	var statements, paths []string
	var tables []*Table
	for _, path := range traces(t) {
		dirs := writeBoth(t, runOf(t, path))
		for i := range Tables {
			name := Tables[i].Name
			tables = append(tables, &Tables[i])
			paths = append(paths, filepath.Join(dirs[columnfile.Arrow], name+".arrow"))
			statements = append(statements, "select * from '"+filepath.Join(dirs[columnfile.Parquet], name+".parquet")+"'")
		}
	}
	want := duckdb(t, statements)
	rows := map[string]int{}
	for i, file := range arrowtest.Read(t, paths...) {
		got := tables[i]
		rows[got.Name] += len(file.Rows)
		if file.Metadata["slackline.table"] != got.Name || file.Metadata["slackline.schema"] != strconv.Itoa(columnfile.Version) ||
			len(file.Fields) != len(got.Columns) {
			t.Fatalf("%s: table %q of version %q with %d columns", paths[i], file.Metadata["slackline.table"],
				file.Metadata["slackline.schema"], len(file.Fields))
		}
		for j, c := range got.Columns {
			f := file.Fields[j]
			if f.Name != c.Name || f.Type != arrowTypes[c.Type] || f.Nullable != c.Missing || f.Metadata["unit"] != c.Unit ||
				f.Metadata["meaning"] != c.Meaning {
				t.Errorf("%s: column %+v, want %+v", paths[i], f, c)
			}
		}
		if len(file.Rows) != len(want[i]) {
			t.Fatalf("%s: %d rows, want %d", paths[i], len(file.Rows), len(want[i]))
		}
		for j, row := range want[i] {
			for k, v := range row {
				if a := file.Rows[j][k]; (a == nil) != (v == nil) || fmt.Sprint(a) != fmt.Sprint(v) {
					t.Fatalf("%s: row %d has %v in %s, that of Parquet %v", paths[i], j, a, got.Columns[k].Name, v)
				}
			}
		}
	}
	for i := range Tables {
		if rows[Tables[i].Name] == 0 {
			t.Errorf("no trace has rows in table %s", Tables[i].Name)
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
	if _, err := Tables[at].Write(f, columnfile.Parquet, r, t.Context().Err); err != nil {
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
	for _, f := range columnfile.Formats() {
		parent := t.TempDir()
		if _, err := WriteDir(ctx, filepath.Join(parent, "tables"), f, false, r); err != context.Canceled {
			t.Errorf("%s: error %v, want that of the context", f, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", f, left, err)
		}
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
