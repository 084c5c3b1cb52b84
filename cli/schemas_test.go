package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli"
	"slackline/cli/clitest"
	"slackline/cli/document"
	"slackline/cli/env"
	"slackline/internal/jsonkeys"
)

// allDocuments are the JSON documents of all verbs, by name.
func allDocuments() env.Documents {
	all := env.Documents{}
	for _, v := range cli.Registry {
		maps.Copy(all, v.Documents)
	}
	return all
}

// TestSchemas holds the schemas that are shipped against the types of the documents.
func TestSchemas(t *testing.T) {
	folder := filepath.Join("..", "docs", "formats")
	shipped, err := filepath.Glob(filepath.Join(folder, "*.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range shipped {
		if name, _, _ := strings.Cut(filepath.Base(path), "."); allDocuments()[name] == nil {
			t.Errorf("%s is the schema of no document", path)
		}
	}
	for name, types := range allDocuments() {
		var b bytes.Buffer
		if err := document.Write(&b, document.Schema(name, types...)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name+".schema.json")
		if data, err := os.ReadFile(path); err == nil && bytes.Equal(data, b.Bytes()) {
			continue
		}
		if !*cli.UpdatePages {
			t.Errorf("%s is not what the types say; run go test ./cli -run TestSchemas -update-pages", path)
		} else if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeysOfResults wants no key of a result that is read again to resemble one that may be missing: it would count as damaged.
func TestKeysOfResults(t *testing.T) {
	for _, name := range []string{"profile", "waits", "simulate", "measure-collectives"} {
		var b bytes.Buffer
		type object struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		var schema struct {
			object
			Defs map[string]object `json:"$defs"`
		}
		if err := document.Write(&b, document.Schema(name, allDocuments()[name]...)); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &schema); err != nil {
			t.Fatal(err)
		}
		schema.Defs[""] = schema.object
		for of, o := range schema.Defs {
			for optional := range o.Properties {
				for key := range o.Properties {
					if key != optional && !slices.Contains(o.Required, optional) && jsonkeys.Resemble(key, optional) {
						t.Errorf("%s: the key %s of %s resembles %s, which may be missing", name, key, of, optional)
					}
				}
			}
		}
	}
}

// TestDocumentsHaveSchemas holds documents of all verbs that need no MPI against their schemas. Those of the others, and
// all that scripts look at, are held against them in the scripts.
func TestDocumentsHaveSchemas(t *testing.T) {
	run := "waits/cases/10-halo-core/traces.otf2"
	seen := map[string]bool{}
	for _, line := range []string{
		"tolerance tolerance/01-paper-late-sender.goal -L 500ns -G 5ns --limit 2us --range 0:2us",
		"tolerance tolerance/16-halo-jitter.goal -L 500ns -G 5ns --critical-path --slack --parameter G",
		"tolerance tolerance/15-wavefront.goal --machine xt4 --pairs 3",
		"tolerance tolerance/18-allreduce-rd-8.goal -L 274ns --topology fattree:k=4 --wires 10",
		"tolerance tolerance/18-allreduce-rd-8.goal -L 0.5us -G 0.01ns --placement 2 --inter 3us,0.05ns",
		"tolerance tolerance/04-no-messages.goal -L 1us --limit 1ns --parameter o",
		"tolerance tolerance/01-paper-late-sender.goal -L 500ns -G 5ns --range 0:800ns --map-G 0:100ns:3",
		"tolerance allreduce --ranks 8 --size 64B -L 1us --mappings default,openmpi",
		"tolerance tolerance/16-halo-jitter.goal tolerance/16-halo-jitter.goal -L 1us",
		"tolerance tolerance/16-halo-jitter.goal -L 1us --noise 1000Hz:500us --replicas 3",
		"tolerance skeleton --ranks 4 --machine xt4 --what-if compute=-20%",
		"simulate tolerance/15-wavefront.goal --machine chic --breakdown",
		"simulate dissemination --ranks 8 --machine cnl --noise 1000Hz:100us --attribute",
		"simulate dissemination --ranks 4,8 --machine cnl --noise 1000Hz:100us --replicas 9 --samples",
		"simulate dissemination --ranks 2..64:2 --machine cnl --noise 100Hz:100us --bottleneck=1.5 --replicas 9 --job-size 128",
		"scaling scaling/check/memory-wall.json --max 3072 --target 8192 --suggest --bootstrap 50",
		"scaling scaling/check/two-parameter-fail.json",
		"scaling scaling/check/inconclusive-four-points.json",
		"check scaling/check/memory-wall.yaml scaling/check/memory-wall.json",
		"history show --dir ./history", "history check --dir ./history",
		"check scaling/check/rule-broken-later.yaml a=scaling/check/rule-broken-later.json b=scaling/check/rule-broken-later.json",
		"compare " + run + " waits/cases/08-waitall/traces.otf2",
		"waits " + run + " --explain --critical-path", "profile " + run + " --by-rank", "report " + run,
		"advise " + run + " " + run, "advise " + run + "," + run + " --noise 1000Hz:10us --machine chic",
		"measure schemes --machine chic --ranks 4,8",
		"noise stats chic", "noise list", "machine list", "generate --list", "doctor",
	} {
		args := strings.Fields(line)
		for i, word := range args {
			if label, path, labeled := strings.Cut(word, "="); labeled && strings.Contains(path, "/") && !strings.HasPrefix(word, "--") {
				args[i] = label + "=../testdata/" + path
			} else if strings.Contains(word, "/") && !strings.HasPrefix(word, "--") {
				args[i] = "../testdata/" + strings.ReplaceAll(word, ",", ",../testdata/")
			}
		}
		code, stdout, stderr := clitest.Run("", append(args, "--format", "json", "--quiet")...)
		if code != 0 && code != 3 && code != 4 {
			t.Fatalf("%s: exit code %d: %s", line, code, stderr)
		}
		name := documentName(args)
		seen[name] = true
		if err := holdAgainstSchema(name, []byte(stdout)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	byScripts := []string{"campaign-status", "hang", "inject", "measure-clocks", "measure-collectives", "measure-memory", "measure-network",
		"measure-noise"}
	for name := range allDocuments() {
		if !seen[name] && !slices.Contains(byScripts, name) {
			t.Errorf("no document %s is held against its schema", name)
		}
	}
}

// documentName is the name of the document that a command writes.
func documentName(args []string) string {
	if len(args) > 1 && allDocuments()[args[0]+"-"+strings.TrimLeft(args[1], "-")] != nil {
		return args[0] + "-" + strings.TrimLeft(args[1], "-")
	}
	return args[0]
}

// holdResultAgainstSchema finds out whether a result that names its command is as its schema says; other files are fine.
func holdResultAgainstSchema(value any, text []byte) error {
	result, _ := value.(map[string]any)
	record, _ := result["provenance"].(map[string]any)
	words, _ := record["command"].([]any)
	var args []string
	for _, word := range words {
		args = append(args, word.(string))
	}
	if len(args) == 0 || allDocuments()[documentName(args)] == nil {
		return nil
	}
	return holdAgainstSchema(documentName(args), text)
}

// holdAgainstSchema finds out whether a document is as its schema says.
func holdAgainstSchema(name string, text []byte) error {
	types := allDocuments()[name]
	if types == nil {
		return fmt.Errorf("the document %s has no schema", name)
	}
	var b bytes.Buffer
	if err := document.Write(&b, document.Schema(name, types...)); err != nil {
		return err
	}
	var schema map[string]any
	if err := json.Unmarshal(b.Bytes(), &schema); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return validator{schema}.check(schema, value, name)
}

// validator validates by the part of JSON Schema that our schemas use.
type validator struct{ root map[string]any }

func (v validator) check(schema map[string]any, value any, at string) error {
	if ref, ok := schema["$ref"].(string); ok {
		definition := v.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")]
		return v.check(definition.(map[string]any), value, at)
	}
	if forms, ok := schema["anyOf"].([]any); ok {
		var errs []string
		for _, form := range forms {
			err := v.check(form.(map[string]any), value, at)
			if err == nil {
				return nil
			}
			errs = append(errs, err.Error())
		}
		return fmt.Errorf("%s", strings.Join(errs, "; or "))
	}
	switch allowed := schema["type"].(type) {
	case string:
		if !hasType(value, allowed) {
			return fmt.Errorf("%s is %.60v, not of type %s", at, value, allowed)
		}
	case []any:
		if !slices.ContainsFunc(allowed, func(name any) bool { return hasType(value, name.(string)) }) {
			return fmt.Errorf("%s is %.60v, not of the types %v", at, value, allowed)
		}
	}
	switch value := value.(type) {
	case []any:
		if least, ok := schema["minItems"].(float64); ok && (len(value) < int(least) || len(value) > int(schema["maxItems"].(float64))) {
			return fmt.Errorf("%s has %d elements, not %g", at, len(value), least)
		}
		items, _ := schema["items"].(map[string]any)
		for i, x := range value {
			if err := v.check(items, x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return v.checkObject(schema, value, at)
	}
	return nil
}

func (v validator) checkObject(schema, value map[string]any, at string) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			return fmt.Errorf("%s has no member %s", at, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, x := range value {
		further, open := schema["additionalProperties"].(map[string]any)
		if p, ok := properties[name].(map[string]any); ok {
			further = p
		} else if !open && schema["additionalProperties"] != nil {
			return fmt.Errorf("%s has the member %s, which its schema does not know", at, name)
		}
		if err := v.check(further, x, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func hasType(value any, name string) bool {
	switch x := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && !strings.ContainsAny(x.String(), ".eE")
	case []any:
		return name == "array"
	}
	return name == "object"
}

// TestValidator holds documents with mistakes against a schema.
func TestValidator(t *testing.T) {
	type inner struct {
		T *float64 `json:"t_s"`
	}
	type outer struct {
		Name  string         `json:"name"`
		Pair  [2]int         `json:"pair"`
		Inner []inner        `json:"inner,omitempty"`
		By    map[string]int `json:"by,omitempty"`
	}
	var b bytes.Buffer
	if err := document.Write(&b, document.Schema("test", outer{})); err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b.Bytes(), &schema); err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		`{"name":"a","pair":[1,2]}`:                                    true,
		`{"name":"a","pair":[1,2],"inner":[{"t_s":1.5},{"t_s":null}]}`: true,
		`{"name":"a","pair":[1,2],"by":{"x":1,"y":2}}`:                 true,
		`{"name":"a"}`:                             false,
		`{"name":1,"pair":[1,2]}`:                  false,
		`{"name":"a","pair":[1]}`:                  false,
		`{"name":"a","pair":[1,2.5]}`:              false,
		`{"name":"a","pair":[1,2],"other":1}`:      false,
		`{"name":"a","pair":[1,2],"inner":[{}]}`:   false,
		`{"name":"a","pair":[1,2],"inner":null}`:   false,
		`{"name":"a","pair":[1,2],"by":{"x":"1"}}`: false,
		`[]`: false,
	} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if err := (validator{schema}).check(schema, value, "test"); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
