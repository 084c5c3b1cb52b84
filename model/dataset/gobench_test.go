package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadGoBench(t *testing.T) {
	checkReading(t, "gobench", []reading{
		{name: "two parameters", input: "BenchmarkF/p=4/n=1e3-8 1 5 ns/op\n", want: "p n\nBenchmarkF ns/op [4 1000]=[5]"},
		{name: "a parameter twice belongs to the path",
			input: "BenchmarkF/n=4/n=5-8 1 5 ns/op\n", want: "n\nBenchmarkF->n=5 ns/op [4]=[5]"},
		{name: "a word with = is a name",
			input: "BenchmarkF/mode=fast/n=4-8 1 5 ns/op\n", want: "n\nBenchmarkF->mode=fast ns/op [4]=[5]"},
		{name: "a plain number counts if there is no other",
			input: "BenchmarkF/64/x-8 1 5 ns/op\nBenchmarkG/64/n=2-8 1 6 ns/op\n",
			want:  "n\nBenchmarkF->x ns/op [64]=[5]\nBenchmarkG->64 ns/op [2]=[6]"},
		{name: "one processor has no suffix", input: "BenchmarkF/n=4 1 5 ns/op\n", want: "n\nBenchmarkF ns/op [4]=[5]"},
		{name: "failed benchmarks",
			input: "BenchmarkF/n=4-8 1 5 ns/op\nBenchmarkG/n=4-8 --- FAIL\n", want: "n\nBenchmarkF ns/op [4]=[5]", warnings: 1},
		{name: "a value without a unit", input: "\nBenchmarkF/n=4-8 1 5 ns/op 7\n", want: "x:2:", bad: true},
		{name: "a value that is not a number", input: "BenchmarkF/n=4-8 1 many ns/op\n", want: "x:1:", bad: true},
		{name: "more than eight parameters",
			input: "BenchmarkF/a=1/b=1/c=1/d=1/e=1/f=1/g=1/h=1/i=1-8 1 5 ns/op\n", want: "x:", bad: true},
		{name: "several numbers of processors are a parameter",
			input: "BenchmarkF 1 9 ns/op\nBenchmarkF-8 1 2 ns/op\nBenchmarkG/n=4-8 1 5 ns/op\nBenchmarkG/cpus=4-8 1 6 ns/op\n",
			want: "cpus n gomaxprocs\nBenchmarkF ns/op [1 NaN NaN]=[9] [8 NaN NaN]=[2]\n" +
				"BenchmarkG ns/op [8 4 NaN]=[5] [4 NaN 8]=[6]"},
		{name: "packages stand in front",
			input: goOutput("m/json", "BenchmarkF/n=4-8 1 5 ns/op\nPASS\n", "ok") + goOutput("m/xml", "BenchmarkF/n=4-8 1 7 ns/op\nPASS\n", "ok"),
			want:  "n\nm/json->BenchmarkF ns/op [4]=[5]\nm/xml->BenchmarkF ns/op [4]=[7]"},
		{name: "a package is known by its end, too",
			input: "BenchmarkF/n=4-8 1 5 ns/op\nPASS\nok  \tm/json\t1.2s\nBenchmarkF/n=4-8 1 7 ns/op\nPASS\nok  \tm/xml\t1.2s\n",
			want:  "n\nm/json->BenchmarkF ns/op [4]=[5]\nm/xml->BenchmarkF ns/op [4]=[7]"},
		{name: "an output appended to another one of the package",
			input: goOutput("m", "BenchmarkF/n=4-8 1 5 ns/op\nPASS\n", "ok") + goOutput("m", "BenchmarkF/n=4-8 1 7 ns/op\nPASS\n", "ok"),
			want:  "n\nBenchmarkF ns/op [4]=[5 7]"},
	})
}

// goOutput is what go test -bench prints for a package.
func goOutput(pkg, results, end string) string {
	return "goos: linux\ngoarch: amd64\npkg: " + pkg + "\ncpu: x\n" + results + end + "  \t" + pkg + "\t1.2s\n"
}

// A package of which something is missing is named.
func TestGoPackagesWithoutEnd(t *testing.T) {
	const run = "BenchmarkF/n=4-8 1 5 ns/op\n"
	whole := goOutput("m/b", run+"PASS\n", "ok")
	const cut = "x: packages in which neither PASS nor FAIL follows the last benchmark (not finished, or lines are lost): 1; the first is "
	const broken = "x: packages that failed as a whole (a panic or a build that failed?), whose benchmarks are missing or not all there: 1; " +
		"the first is "
	const failing = run + "--- FAIL: BenchmarkG\nFAIL\nexit status 1\n"
	const panicking = run + "panic: oops\n\ngoroutine 1 [running]:\nexit status 2\n"
	for text, want := range map[string]string{
		goOutput("m/a", run+"PASS\n", "ok") + whole + "?   \tm/c\t[no test files]\n": "",
		goOutput("m/a", panicking, "FAIL") + whole + "FAIL\n":                        broken + "m/a",
		whole + "FAIL\tm/c [build failed]\nFAIL\n":                                   broken + "m/c",
		goOutput("m/a", failing, "FAIL") + whole:                                     "x: benchmarks that failed: 1; the first is BenchmarkG",
		"goos: linux\npkg: m/a\n" + run + whole:                                      cut + "m/a",
		"pkg: m/a\n" + run + "pkg: m/b\n" + run + "PASS\nok  \tm/b\t1.2s\n":          cut + "m/a",
		"goos: linux\npkg: m/a\n" + run + run + "PASS\nok  \tm/b\t1.2s\n":            cut + "m/a",
		whole + run:             cut + "that of line 8",
		whole + "goos: linux\n": cut + "that of line 8",
	} {
		d, _, err := dataset.Read("x", []byte(text), "")
		if err != nil {
			t.Errorf("%s\n%v", text, err)
		} else if got := strings.Join(d.Warnings, "\n"); got != want {
			t.Errorf("%s\nwarnings %q, want %q", text, got, want)
		}
	}
}

// Expectations find the benchmarks of a package by their own names.
func TestGoPackagesAreFound(t *testing.T) {
	d, _, err := dataset.Read("x", []byte(goOutput("m/a", "BenchmarkF/n=4-8 1 5 ns/op\nPASS\n", "ok")+
		goOutput("m/b", "BenchmarkF/n=4-8 1 5 ns/op\nPASS\n", "ok")), "")
	if err != nil || len(d.FindAll("BenchmarkF", "")) != 2 || d.Find("m/b/BenchmarkF", "").CallPath != "m/b->BenchmarkF" {
		t.Errorf("%v, %v", d, err)
	}
}
