package tolerance_test

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// pingPong is that of clitest; beside it, rank 1 computes for 4 us. T is the larger of 1.5 us + 2L + 108G + 4o and 4 us.
func pingPong(t *testing.T) string { return clitest.PingPong(t, "d: calc 4000 cpu 1") }

// ask runs tolerance, which must succeed, in one of its forms.
func ask(t *testing.T, format string, args ...string) string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"tolerance", "--quiet", "--format", format}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d, %s", args, code, stderr)
	}
	return stdout
}

// answer is the answer as JSON, with exact numbers.
func answer(t *testing.T, args ...string) map[string]any {
	t.Helper()
	return decodeNumbers(t, []byte(ask(t, "json", args...)))
}

// rows are the lines of an answer as CSV, by the names of the columns.
func rows(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(ask(t, "csv", args...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		list = append(list, row)
	}
	return list
}

// rational reads an exact number.
func rational(t *testing.T, text any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(fmt.Sprint(text))
	if !ok {
		t.Fatalf("%v is not a number", text)
	}
	return r
}

// T = max(1500 + 2L + 108G + 4o, 4000) in ns, so that it is flat up to L = 1250 without costs.
func TestPingPong(t *testing.T) {
	path := pingPong(t)
	for _, tc := range []struct {
		flags  string
		t      string
		lambda string
		rho    string // 2L/T, to six digits
		valid  string
	}{
		{"-L 1us", "4000", "0", "0", "[0 1250]"},
		{"-L 2us", "5500", "2", "727273/1000000", "[1250 <nil>]"},
		{"-L 1250ns", "4000", "2", "5/8", "[1250 <nil>]"}, // at a corner the slope is that to the right
		{"-L 2us -G 1ns", "5608", "2", "713267/1000000", "[1196 <nil>]"},
		{"-L 2us -o 100ns", "5900", "2", "677966/1000000", "[1050 <nil>]"},
		{"-L 0", "4000", "0", "0", "[0 1250]"},
	} {
		got := answer(t, append(strings.Fields(tc.flags), path)...)
		if got["T_ns"] != tc.t || got["lambda_L"] != tc.lambda || rational(t, got["rho_L"]).Cmp(rational(t, tc.rho)) != 0 ||
			fmt.Sprint(got["valid_range_ns"]) != tc.valid {
			t.Errorf("%s: T %v, lambda %v, rho %v, valid in %v; want %s, %s, %s, %s", tc.flags, got["T_ns"], got["lambda_L"], got["rho_L"],
				got["valid_range_ns"], tc.t, tc.lambda, tc.rho, tc.valid)
		}
	}
}

// The largest latency of a tolerance is the last one, to the picosecond, at which T is not larger; so is that of a limit.
func TestLargestIsTheLast(t *testing.T) {
	path := pingPong(t)
	for _, latency := range []string{"0", "1us", "1250ns", "1251ns", "7777ns"} {
		a := answer(t, path, "-L", latency, "-G", "0.03ns", "--tolerance", "0%,0.07%,3%,100%", "--limit", "6001ns")
		given := rational(t, a["T_ns"])
		check := func(name string, value any, bound *big.Rat) {
			t.Helper()
			largest := rational(t, value)
			next := new(big.Rat).Add(largest, big.NewRat(1, 1000))
			at := rational(t, answer(t, path, "-G", "0.03ns", "-L", largest.FloatString(3)+"ns")["T_ns"])
			after := rational(t, answer(t, path, "-G", "0.03ns", "-L", next.FloatString(3)+"ns")["T_ns"])
			if at.Cmp(bound) > 0 || after.Cmp(bound) <= 0 {
				t.Errorf("-L %s, %s: T is %s at %s and %s a picosecond later, but may be %s", latency, name, at.FloatString(3),
					largest.FloatString(3), after.FloatString(3), bound.FloatString(3))
			}
		}
		for _, one := range a["tolerance"].([]any) {
			m := one.(map[string]any)
			factor := new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).Quo(rational(t, m["percent"]), big.NewRat(100, 1)))
			check(fmt.Sprint(m["percent"], " %"), m["L_ns"], factor.Mul(factor, given))
		}
		check("limit", a["limit"].(map[string]any)["L_ns"], big.NewRat(6001, 1))
	}
}

// The curve as CSV: T at its corners is that of runs with these latencies, and it is straight in between.
func TestCurve(t *testing.T) {
	path := pingPong(t)
	list := rows(t, path, "-L", "1us", "--range", "0:5us")
	want := []string{"0 4000 0 0", "1250 4000 0 2", "5000 11500 2 2"}
	if len(list) != len(want) {
		t.Fatalf("%d rows, want %d: %v", len(list), len(want), list)
	}
	for i, row := range list {
		if got := strings.Join([]string{row["L_ns"], row["T_ns"], row["slope_before"], row["slope_after"]}, " "); got != want[i] {
			t.Errorf("row %d is %s, want %s", i, got, want[i])
		}
		if at := answer(t, path, "-L", row["L_ns"]+"ns"); at["T_ns"] != row["T_ns"] || at["lambda_L"] != row["slope_after"] {
			t.Errorf("a run at %s ns takes %v with slope %v, the curve says %s and %s", row["L_ns"], at["T_ns"], at["lambda_L"], row["T_ns"],
				row["slope_after"])
		}
	}
}

// --what-if: without its computation of 1 us, T is that much shorter; half of it, half as much.
func TestWhatIf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.trace")
	const text = "slackline trace 1\nunit us\nrank 0\n0 main {\n  0..30 solve\n  30..32 MPI_Send: send to 1 size 8\n} 40\n" +
		"rank 1\n0 main {\n  0..10 other\n  10..33 MPI_Recv: recv from 0 size 8\n} 40\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	a := answer(t, path, "-L", "1us", "--what-if", "solve=-50%", "--what-if", "solve=-100%", "--what-if", "other=-10%")
	// Rank 0 computes 30 us before the message and 8 us after it, rank 1 has 7 us left after it.
	want := []string{"solve -50 30000 23000", "solve -100 30000 17000", "other -10 10000 38000"}
	for i, one := range a["what_if"].([]any) {
		m := one.(map[string]any)
		if got := fmt.Sprint(m["call_path"], " ", m["percent"], " ", m["work_ns"], " ", m["T_ns"]); got != want[i] {
			t.Errorf("what-if %d: %s, want %s", i, got, want[i])
		}
	}
	code, _, stderr := clitest.Run("", "tolerance", path, "-L", "1us", "--what-if", "nothing=-50%")
	if code != 1 || !strings.Contains(stderr, `nothing is computed in "nothing"; call paths that compute are main`) {
		t.Errorf("an unknown call path: exit code %d, %s", code, stderr)
	}
}

// Flags that ask different questions, or that need others, say so.
func TestContradictions(t *testing.T) {
	path := pingPong(t)
	for args, want := range map[string]string{
		"--mappings default --map-G 0:1ns --range 0:1us":    "--mappings and --map-G are different questions; ask one after the other",
		"--noise 1kHz:1us --placement 2":                    "--noise and --placement are different questions",
		"--noise 1kHz:1us --slack":                          "--slack looks at one run; leave it out, or --noise",
		"--mappings default --critical-path":                "--critical-path looks at one run; leave it out, or --mappings",
		"--mappings default --mapping openmpi":              "give --mapping or --mappings, not both",
		"--map-G 0:1ns":                                     "--map-G needs --range",
		"--map-G 0:1ns --range 0:1us --parameter o":         "--map-G goes over L and G; leave --parameter o out",
		"--map-G 0:1ns:201 --range 0:1us":                   `expected at most 200 values, got "0:1ns:201"`,
		"--range 0:1us:5":                                   `--range: expected FROM:TO such as 0:100us, got "0:1us:5"`,
		"--range 5us":                                       "--range: ",
		"--pairs -1":                                        "--pairs: -1 is too few; give 0 or more",
		"--pairs 2 --parameter G":                           "--pairs and --wires are about latencies; leave --parameter G out",
		"--pairs 2 --topology fattree:k=4":                  "leave --topology out, or take --wires",
		"--wires 2 --vary far --topology fattree:k=4":       "--wires looks at one wire after the other; leave --vary out",
		"--vary fat":                                        `--vary: "fat" is not one of the classes node, switch, far; did you mean far?`,
		"--vary switch":                                     "--vary: there is no message of class switch",
		"--vary nod --topology fattree:k=4":                 `--vary: "nod" is not a part of`,
		"--vary node,edge --topology fattree:k=4":           "--vary: of a topology one part is varied at a time; give one of node, edge",
		"--vary node --topology fattree:k=4 --parameter G":  "--vary: the parts of a topology differ by their latency",
		"--topology machine":                                "--topology machine needs --machine FILE",
		"--topology torus:":                                 "--topology: ",
		"--what-if solve@1=-20%":                            "tolerance changes a call path on all ranks",
		"--tolerance " + strings.Repeat("1%,", 1000) + "1%": "1001 percentages are too many; give at most 1000",
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"tolerance", path, "-L", "1us"}, strings.Fields(args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%.60s: exit code %d, stdout %q, stderr %q; want 2, nothing and %q", args, code, stdout, stderr, want)
		}
	}
}
