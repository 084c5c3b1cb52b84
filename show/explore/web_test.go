package explore

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"slackline/internal/needed"
)

var updateTypes = flag.Bool("update-types", false, "write web/types.js from api.go")

// TestTypes checks the types of the pages' scripts.
func TestTypes(t *testing.T) {
	needed.Full(t, "the compiler of TypeScript")
	tsc := needed.Tool(t, "tsc", "of the package node-typescript")
	args := []string{"--checkJs", "--allowJs", "--noEmit", "--strict", "--noUnusedLocals", "--noFallthroughCasesInSwitch",
		"--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom,dom.iterable"}
	err := filepath.WalkDir("web", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".js") {
			args = append(args, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tsc, args...).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}

// TestAnswers holds the types of the scripts against those of the server.
func TestAnswers(t *testing.T) {
	want := typedefs(t)
	got, err := os.ReadFile("web/types.js")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	if *updateTypes {
		if err := os.WriteFile("web/types.js", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("web/types.js does not say what api.go says; run go test ./show/explore -run TestAnswers -update-types")
}

// typedefs writes the structs of the API as types of JSDoc.
func typedefs(t *testing.T) string {
	var b strings.Builder
	b.WriteString("// The answers of the server. Made from api.go and api_results.go by a test: go test -run TestAnswers -update-types\n\n")
	for _, name := range []string{"api.go", "api_results.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if ts, ok := n.(*ast.TypeSpec); ok {
				if s, ok := ts.Type.(*ast.StructType); ok {
					b.WriteString(typedef(t, ts.Name.Name, s))
				}
			}
			return true
		})
	}
	b.WriteString("\nexport {};\n")
	return b.String()
}

func typedef(t *testing.T, name string, s *ast.StructType) string {
	var fields []string
	for _, f := range s.Fields.List {
		tag, _, _ := strings.Cut(strings.TrimPrefix(f.Tag.Value, "`"), "`")
		key, option, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if option == "omitempty" {
			key += "?"
		}
		fields = append(fields, key+": "+scriptType(t, f.Type))
	}
	if one := fmt.Sprintf("/** @typedef {{%s}} %s */\n", strings.Join(fields, ", "), name); len(one) <= 120 {
		return one
	}
	lines := []string{""}
	for _, f := range fields {
		last := &lines[len(lines)-1]
		if *last != "" && len(*last)+len(f) > 110 {
			lines = append(lines, "")
			last = &lines[len(lines)-1]
		}
		*last += " " + f + ","
	}
	return fmt.Sprintf("/**\n * @typedef {{\n *  %s\n * }} %s\n */\n", strings.Join(lines, "\n *  "), name)
}

// scriptType says a type of Go in TypeScript.
func scriptType(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ArrayType:
		return scriptType(t, e.Elt) + "[]"
	case *ast.StarExpr:
		return scriptType(t, e.X)
	case *ast.MapType:
		return "Record<" + scriptType(t, e.Key) + ", " + scriptType(t, e.Value) + ">"
	case *ast.Ident:
		switch e.Name {
		case "int", "int64", "float64":
			return "number"
		case "bool":
			return "boolean"
		}
		return e.Name
	}
	t.Fatalf("api.go has a type that scripts do not know: %T", e)
	return ""
}

// TestStrictPages checks that the pages need nothing that their policy forbids, and nothing from elsewhere.
func TestStrictPages(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"text as markup":     regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function`),
		"styles in markup":   regexp.MustCompile(`\sstyle="|setAttribute\("style"|cssText|<style`),
		"scripts in markup":  regexp.MustCompile(`<script>|\son[a-z]+="`),
		"another server":     regexp.MustCompile(`https?://[^\s"'<]+`),
		"what is to be done": regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`),
	}
	err := filepath.WalkDir("web", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "")
		for what, pattern := range forbidden {
			if found := pattern.FindString(text); found != "" {
				t.Errorf("%s has %s: %s", path, what, found)
			}
		}
		if lines := strings.Count(text, "\n"); lines > 450 {
			t.Errorf("%s has %d lines: too long to be read in one go", path, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
