package tolerance_test

import (
	"fmt"
	"strings"
	"testing"
)

// A row of a comparison of mappings is the answer with that mapping alone.
func TestMappings(t *testing.T) {
	names := []string{"openmpi", "default", "mpich"}
	args := []string{"allreduce", "--ranks", "12", "--size", "1MiB", "--machine", "xt4", "--tolerance", "2%"}
	list := rows(t, append(args, "--mappings", strings.Join(names, ","))...)
	if len(list) != len(names) {
		t.Fatalf("%d rows, want %d", len(list), len(names))
	}
	different := map[string]bool{}
	for i, row := range list {
		if row["mapping"] != names[i] {
			t.Errorf("row %d is %s, want %s: the order is that of the flag", i, row["mapping"], names[i])
		}
		one := answer(t, append(args, "--mapping", names[i])...)
		allowed := one["tolerance"].([]any)[0].(map[string]any)["L_ns"]
		for key, value := range map[string]any{
			"T_ns": one["T_ns"], "lambda_L": one["lambda_L"], "lambda_G_bytes": one["lambda_G_bytes"], "lambda_o": one["lambda_o"],
			"ops": one["ops"], "messages": one["messages"], "L_ns_2": allowed,
		} {
			if rational(t, row[key]).Cmp(rational(t, value)) != 0 {
				t.Errorf("%s: %s = %s, by itself %v", names[i], key, row[key], value)
			}
		}
		different[fmt.Sprint(one["T_ns"])] = true
	}
	if len(different) < 2 {
		t.Error("all mappings give the same T: the test shows nothing")
	}
}
