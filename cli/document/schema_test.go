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
		Missing  *float64           `json:"missing,omitempty" about:"not there"`
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
		`"$ref": "#/$defs/node"`, `"title": "slackline test"`, `"value": {"type": ["number","null"]}`, `"missing": {"type": "number", "description": "not there"}`,
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

// Types that write themselves are what they write; a type that occurs in two packages or twice without a name gets one of its own.
func TestSchemaForms(t *testing.T) {
	type local struct {
		X int `json:"x"`
	}
	value := struct {
		P   percent            `json:"p"`
		W   word               `json:"w"`
		Q   pair               `json:"q_ns"`
		Any any                `json:"any"`
		A   struct{ X int }    `json:"a"`
		B   struct{ Y bool }   `json:"b"`
		L   local              `json:"l"`
		M   map[string]local   `json:"m,omitempty"`
		Ref *local             `json:"ref"`
		U   uint32             `json:"u"`
		D   map[string]percent `json:"d"`
	}{}
	got := written(t, Schema("test", value))
	for _, want := range []string{
		`"p": {"type": "object"}`, `"w": {"type": "string"}`, `"q_ns": {"type": "array", "items": {"type": "number"}}`, `"any": {}`,
		`"a": {"$ref": "#/$defs/object2"}`, `"b": {"$ref": "#/$defs/object3"}`, `"l": {"$ref": "#/$defs/local"}`,
		`"m": {"type": "object", "additionalProperties": {"$ref": "#/$defs/local"}}`, `"u": {"type": "integer"}`,
		`"ref": {"anyOf": [{"$ref": "#/$defs/local"}, {"type": "null"}]}`,
		`"d": {"type": ["object","null"], "additionalProperties": {"type": "object"}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if n := strings.Count(got, `"local": {`); n != 1 {
		t.Errorf("local is defined %d times", n)
	}
}
