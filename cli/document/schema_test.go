package document

import (
	"strings"
	"testing"
)

// A schema knows what is required, what may be null, and structs that contain themselves.
func TestSchema(t *testing.T) {
	type node struct {
		Name     string             `json:"name"`
		Value    *float64           `json:"value"`
		Missing  *float64           `json:"missing,omitempty"`
		Ratio    float64            `json:"ratio" nan:"null"`
		Children []node             `json:"children,omitempty"`
		By       map[string]float64 `json:"by"`
		Pair     [2]int             `json:"pair"`
		Numbers  []*int             `json:"numbers"`
		Members  Members[bool]      `json:"members"`
		times
	}
	got := written(t, Schema("test", node{}))
	for _, want := range []string{
		`"$ref": "#/$defs/node"`, `"title": "slackline test"`, `"value": {"type": ["number","null"]}`, `"missing": {"type": "number"}`,
		`"ratio": {"type": ["number","null"]}`, `"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}`,
		`"pair": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}`,
		`"numbers": {"type": "array", "items": {"type": ["integer","null"]}}`, `"members": {"type": "object", "additionalProperties": {"type": "boolean"}}`,
		`"required": ["name","value","ratio","by","pair","numbers","members","a_ns","b_s","c_ps","d_ns","e_ns","f_ns","g_ns","seconds"]`,
		`"additionalProperties": false`, `"g_ns": {"type": "integer"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if got := written(t, Schema("two", inner{}, times{})); !strings.Contains(got, `"anyOf"`) {
		t.Errorf("no choice in\n%s", got)
	}
}
