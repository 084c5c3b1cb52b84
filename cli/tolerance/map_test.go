package tolerance_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Each cell of a map is T of a run with that L and G, in all forms.
func TestMap(t *testing.T) {
	path := pingPong(t)
	args := []string{path, "-L", "2us", "--map-G", "0:2ns:3", "--range", "0:4us"}
	a := answer(t, args...)
	latencies := a["L_ns"].([]any)
	if len(latencies) != 9 || latencies[0] != "0" || latencies[1] != "500" || latencies[8] != "4000" {
		t.Fatalf("latencies %v, want 9 from 0 to 4000", latencies)
	}
	cells := map[string]string{}
	for i, one := range a["map"].([]any) {
		row := one.(map[string]any)
		if row["G_ns"] != fmt.Sprint(i) {
			t.Errorf("row %d has G %v, want %d", i, row["G_ns"], i)
		}
		for j, x := range row["T_map_ns"].([]any) {
			// T = max(1500 + 2L + 108G, 4000)
			if want := fmt.Sprint(max(1500+2*500*j+108*i, 4000)); x != want {
				t.Errorf("G %d, L %v: T %v, want %s", i, latencies[j], x, want)
			}
			cells[fmt.Sprint(row["G_ns"], " ", latencies[j])] = fmt.Sprint(x)
		}
		single := answer(t, path, "-L", "2us", "-G", fmt.Sprint(row["G_ns"], "ns"), "--range", "0:4us")
		for _, key := range []string{"T_ns", "lambda_L", "lambda_G_bytes", "rho_L", "tolerance", "breakpoints", "valid_range_ns"} {
			if !reflect.DeepEqual(single[key], row[key]) {
				t.Errorf("G %v: %s = %v, a run by itself has %v", row["G_ns"], key, row[key], single[key])
			}
		}
	}
	lines := rows(t, args...)
	for _, row := range lines {
		if cells[row["G_ns"]+" "+row["L_ns"]] != row["T_ns"] {
			t.Errorf("CSV has T %s at %s, %s; JSON has %s", row["T_ns"], row["G_ns"], row["L_ns"], cells[row["G_ns"]+" "+row["L_ns"]])
		}
	}
	if len(lines) != 27 {
		t.Errorf("%d rows as CSV, want 27", len(lines))
	}
	const last = "\n2ns  4us      4us    4us  4.716us  5.716us  6.716us  7.716us  8.716us  9.716us\n"
	if text := ask(t, "text", args...); !strings.Contains(text, last) {
		t.Errorf("no line%sin\n%s", last, text)
	}
}

// Values of G that fall together are there once: between 0 and 2 fs per byte are only three.
func TestMapSpacing(t *testing.T) {
	path := pingPong(t)
	a := answer(t, path, "-L", "1us", "--map-G", "0:0.000002ns:9", "--range", "0:1us")
	var got []string
	for _, one := range a["map"].([]any) {
		got = append(got, fmt.Sprint(one.(map[string]any)["G_ns"]))
	}
	if want := []string{"0", "1/1000000", "1/500000"}; !reflect.DeepEqual(got, want) {
		t.Errorf("G %v, want %v", got, want)
	}
}
