package tolerance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

const toleranceData = "../../testdata/tolerance"

// decodeNumbers reads JSON with its numbers as exact fractions.
func decodeNumbers(t *testing.T, data []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return exact(value).(map[string]any)
}

// exact turns the numbers in a value into reduced fractions, so that 0.0 is 0.
func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok {
			panic("no number: " + v)
		}
		return r.RatString()
	case map[string]any:
		for key, member := range v {
			v[key] = exact(member)
		}
	case []any:
		for i, member := range v {
			v[i] = exact(member)
		}
	}
	return value
}

// toleranceArgs are the flags of a solved case.
func toleranceArgs(c map[string]json.RawMessage) []string {
	text := func(key string) string { return strings.Trim(string(c[key]), `"`) }
	args := []string{
		"tolerance", filepath.Join(toleranceData, text("file")), "-L", text("L_ns") + "ns", "-o", text("o_ns") + "ns",
		"-G", text("G_ns") + "ns", "-S", text("S"), "--format", "json", "--quiet",
	}
	if c["g_ns"] != nil {
		args = append(args, "-g", text("g_ns")+"ns")
	}
	if c["limit_ns"] != nil {
		args = append(args, "--limit", text("limit_ns")+"ns")
	}
	if c["range_ns"] != nil {
		ends := strings.Split(strings.Trim(text("range_ns"), "[]"), ",")
		args = append(args, "--range", strings.TrimSpace(ends[0])+"ns:"+strings.TrimSpace(ends[1])+"ns")
	}
	if c["tolerance_percent"] != nil {
		percents := strings.Split(strings.Trim(text("tolerance_percent"), "[]"), ",")
		for i, p := range percents {
			percents[i] = strings.TrimSpace(p) + "%"
		}
		args = append(args, "--tolerance", strings.Join(percents, ","))
	}
	if c["topology"] != nil {
		args = append(args, "--topology", text("topology"), "--switch-latency", text("switch_latency_ns")+"ns",
			"--ranks-per-node", text("ranks_per_node"), "--intra-latency", text("intra_latency_ns")+"ns", "--critical-path")
	}
	return args
}

// checkCase runs a solved case and wants every member of its answer.
func checkCase(t *testing.T, c map[string]json.RawMessage, more ...string) {
	want := decodeNumbers(t, c["want"])
	if want["slack_ns"] != nil {
		more = append(more, "--slack")
	}
	code, stdout, stderr := clitest.Run("", append(toleranceArgs(c), more...)...)
	if word, isError := want["error"].(string); isError {
		if fmt.Sprint(code) != want["exit"] || stdout != "" || !strings.Contains(stderr, word) {
			t.Errorf("exit code %d, stdout %q, stderr %q; want %v, nothing, and %q", code, stdout, stderr, want["exit"], word)
		}
		return
	}
	wildcards := strings.Contains(stderr, "receives from any source") // which a warning tells
	if code != 0 || stderr != "" && !wildcards {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if strings.ContainsAny(stdout, "eE") && strings.Contains(stdout, "e+") {
		t.Errorf("numbers with exponents:\n%s", stdout)
	}
	got := decodeNumbers(t, []byte(stdout))
	for key, value := range want {
		have := got[key]
		if key == "profile" { // the topologies have no path and no ranks in theirs
			wanted, held := value.(map[string]any), have.(map[string]any)
			for kind := range held {
				if wanted[kind] == nil && slices.Contains([]string{"path", "calc_by_rank"}, kind) {
					delete(held, kind)
				}
			}
		}
		if !reflect.DeepEqual(have, value) {
			t.Errorf("%s = %v, want %v", key, have, value)
		}
	}
	for _, key := range []string{"limit", "breakpoints", "slack_ns"} {
		if asked := want[key] != nil; asked != (got[key] != nil) {
			t.Errorf("%s is there: %v, asked for: %v", key, got[key] != nil, asked)
		}
	}
	checkValidRange(t, got)
}

// checkValidRange wants the range in which the slope holds to be that between the breakpoints around
// the given latency.
func checkValidRange(t *testing.T, got map[string]any) {
	valid, ok := got["valid_range_ns"].([]any)
	if !ok || len(valid) != 2 {
		t.Fatalf("valid_range_ns = %v", got["valid_range_ns"])
	}
	points, _ := got["breakpoints"].([]any)
	for _, p := range points {
		at := p.(map[string]any)
		if at["slope_after"] == got["lambda_L"] && at["L_ns"] != valid[0] {
			t.Errorf("valid from %v, but the slope begins at %v", valid[0], at["L_ns"])
		}
		if at["slope_before"] == got["lambda_L"] && at["L_ns"] != valid[1] {
			t.Errorf("valid up to %v, but the slope ends at %v", valid[1], at["L_ns"])
		}
	}
}

func TestToleranceCases(t *testing.T) {
	var cases []map[string]json.RawMessage
	clitest.ReadJSON(t, toleranceData+"/cases.json", &cases)
	if len(cases) < 22 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(strings.Trim(string(c["name"]), `"`), func(t *testing.T) { checkCase(t, c) })
	}
}

func TestToleranceExtras(t *testing.T) {
	var extras struct {
		Topology []map[string]json.RawMessage
		Path     []map[string]json.RawMessage `json:"critical_path"`
	}
	clitest.ReadJSON(t, toleranceData+"/extras.json", &extras)
	if len(extras.Topology) < 8 || len(extras.Path) < 7 {
		t.Fatalf("only %d and %d cases", len(extras.Topology), len(extras.Path))
	}
	for _, c := range extras.Topology {
		t.Run(string(c["file"])+" on "+string(c["topology"]), func(t *testing.T) { checkCase(t, c) })
	}
	for _, c := range extras.Path {
		t.Run("path of "+string(c["file"]), func(t *testing.T) { checkCase(t, c, "--critical-path") })
	}
}
