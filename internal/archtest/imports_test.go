package archtest

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the path of this project.
const module = "slackline/"

// rooms are the packages of the project with what they may import, beside model/unit and the helpers below internal, as the table of
// docs/architecture.md has them. An entry that ends in "/" allows a whole floor.
var rooms = sync.OnceValue(func() map[string][]string {
	data, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		panic(err)
	}
	_, table, _ := strings.Cut(string(data), "What exists now:")
	table, _, found := strings.Cut(table, "\n`model/unit` and the helpers")
	if !found {
		panic("docs/architecture.md: the table was not found")
	}
	list := map[string][]string{}
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) == 3 && strings.HasPrefix(cells[0], "`") {
			allowed := []string{}
			for _, word := range strings.Split(cells[2], ", ") {
				if word != "-" {
					allowed = append(allowed, strings.Trim(word, "`"))
				}
			}
			list[strings.Trim(cells[0], "`")] = allowed
		}
	}
	return list
})

// anyVerb is the row of the table that holds for all verbs. A verb has a row of its own only for the verbs that it builds on.
const anyVerb = "cli/VERB"

// isVerb reports whether a package is that of a verb, with or without a row of its own: any below cli that verbs do not share.
func isVerb(room string) bool {
	return strings.HasPrefix(room, "cli/") && !slices.Contains(rooms()[anyVerb], room) && !slices.Contains(forTests, room)
}

// mayImport reports whether room may import the package target, both without the
// module's path.
func mayImport(room, target string) bool {
	if target == "model/unit" {
		return !isHelper(room) && room != "cmd/slackline"
	}
	if isHelper(target) {
		return true
	}
	list := rooms()[room]
	if isVerb(room) {
		list = slices.Concat(list, rooms()[anyVerb])
	}
	for _, allowed := range list {
		if allowed == target || strings.HasSuffix(allowed, "/") && strings.HasPrefix(target, allowed) {
			return true
		}
	}
	return false
}

// isHelper reports whether a package is a helper without domain knowledge.
func isHelper(path string) bool {
	return strings.HasPrefix(path, "internal/")
}

func TestRooms(t *testing.T) {
	for _, tc := range []struct {
		room, target string
		want         bool
	}{
		{"model/machine", "model/noise", true},
		{"model/machine", "model/unit", true},
		{"model/machine", "model/schedule", false},
		{"model/noise", "internal/suggest", true},
		{"model/noise", "cli", false},
		{"cli/waits", "cli/scenario", true},
		{"cli/waits", "cli/profile", false},
		{"cli/check", "cli/scaling", true},
		{"cli/env", "cli/waits", false},
		{"model/schedule", "analyze/simulate", false},
		{"analyze/waits", "observe/record", false},
		{"show/explore", "analyze/waits", true},
		{"internal/table", "model/unit", false},
		{"internal/table", "internal/suggest", true},
		{"cmd/slackline", "model/schedule", false},
	} {
		if got := mayImport(tc.room, tc.target); got != tc.want {
			t.Errorf("mayImport(%s, %s) = %v, want %v", tc.room, tc.target, got, tc.want)
		}
	}
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		if _, ok := rooms()[f.room]; !ok && !isHelper(f.room) && !isVerb(f.room) {
			t.Errorf("%s: the package %s has no place in the table of allowed imports", f.path, f.room)
			continue
		}
		if f.test {
			continue // tests may take what they need to check a package
		}
		for _, path := range f.imports() {
			target, ok := strings.CutPrefix(path, module)
			if ok && !mayImport(f.room, target) {
				t.Errorf("%s: %s may not import %s", f.path, f.room, target)
			}
		}
	}
}

// forTests are the packages that only tests may import, and each other.
var forTests = []string{"cli/clitest", "internal/arrowfile/arrowtest", "internal/browser", "internal/needed", "model/trace/tracetest",
	"observe/mpi/mpitest"}

func TestForTests(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || slices.Contains(forTests, f.room) {
			continue
		}
		for _, path := range f.imports() {
			if path == "testing" || slices.Contains(forTests, strings.TrimPrefix(path, module)) {
				t.Errorf("%s: %s imports %s, which is for tests", f.path, f.room, path)
			}
		}
	}
}

// TestMissingTools checks that internal/needed alone looks whether this is continuous integration: a guard of a test's
// own might skip there what it must not.
func TestMissingTools(t *testing.T) {
	for _, f := range sources(t) {
		if f.room == "internal/needed" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name, isName := call.Fun.(*ast.SelectorExpr)
			text, isText := call.Args[0].(*ast.BasicLit)
			if isName && isText && (name.Sel.Name == "Getenv" || name.Sel.Name == "LookupEnv") && text.Value == `"CI"` {
				t.Errorf("%s: asks for CI; use internal/needed", f.position(n))
			}
			return true
		})
	}
}

// modulesOf are the modules that the program may link, and who may use them; an
// entry "" allows every package. New ones need a reason and a licence text in
// third_party.
var modulesOf = map[string][]string{
	"github.com/spf13/":                  {"cli"},
	"github.com/goccy/go-yaml":           {"internal/yamlfile"},
	"github.com/klauspost/compress":      {"model/", "internal/chunk"},
	"github.com/ianlancetaylor/demangle": {"observe/record"},
	"github.com/parquet-go/parquet-go":   {"internal/columnfile", "show/columns"},
	"golang.org/x/term":                  {"cli"},
	"golang.org/x/sync":                  {""},
	"golang.org/x/sys":                   {""},
	"golang.org/x/image":                 {"show/plot"},
	"github.com/google/go-cmp":           nil, // tests only, as the following
	"pgregory.net/rapid":                 nil,
	"github.com/chromedp/":               {"internal/browser"},
	"github.com/rogpeppe/go-internal/":   {"cli/clitest"},
}

func TestModules(t *testing.T) {
	for _, f := range sources(t) {
		for _, path := range f.imports() {
			first, _, _ := strings.Cut(path, "/")
			if strings.HasPrefix(path, module) || !strings.Contains(first, ".") {
				continue
			}
			users, known := usersOf(path)
			allowed := slices.ContainsFunc(users, func(u string) bool { return strings.HasPrefix(f.room, u) })
			switch {
			case !known:
				t.Errorf("%s: %s is not among the chosen modules", f.path, path)
			case !f.test && !allowed:
				t.Errorf("%s: %s is not for %s", f.path, path, f.room)
			}
		}
	}
}

func usersOf(path string) ([]string, bool) {
	for prefix, users := range modulesOf {
		if strings.HasPrefix(path, prefix) {
			return users, true
		}
	}
	return nil, false
}

// TestPurity checks that what describes and what computes leaves the outer world
// alone: inputs come as values, results go as values.
func TestPurity(t *testing.T) {
	// Machine files name further files (placements); mappings and noise
	// profiles are files of their own.
	readers := []string{"model/machine", "model/collective", "model/noise"}
	for _, f := range sources(t) {
		floor, _, _ := strings.Cut(f.room, "/")
		if f.test || floor != "model" && floor != "analyze" && f.room != "show/plot" {
			continue
		}
		for _, path := range f.imports() {
			switch path {
			case "os":
				if !slices.Contains(readers, f.room) {
					t.Errorf("%s: %s imports os; take a reader or bytes instead", f.path, f.room)
				}
			case "log", "log/slog", "net", "net/http", "os/exec", "os/signal":
				t.Errorf("%s: %s imports %s", f.path, f.room, path)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && forbiddenCall(pkg.Name, sel.Sel.Name) {
					t.Errorf("%s: %s.%s in %s", f.position(n), pkg.Name, sel.Sel.Name, f.room)
				}
			}
			return true
		})
	}
}

func forbiddenCall(pkg, name string) bool {
	switch pkg {
	case "fmt":
		return name == "Print" || name == "Printf" || name == "Println"
	case "os":
		return name == "Exit" || name == "Stdout" || name == "Stderr" || name == "Stdin"
	case "unsafe":
		// Sizes may be checked and addresses compared; pointers are not made.
		return name != "Sizeof" && name != "SliceData"
	}
	return false
}

// TestLicences checks that the licence of every linked module lies in
// third_party, and no other.
func TestLicences(t *testing.T) {
	root := projectRoot(t)
	data, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	testOnly := []string{"github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal",
		"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", "github.com/go-json-experiment/json"}
	// for Windows alone, or tools of tests
	notLinked := []string{"github.com/inconshreveable/mousetrap", "golang.org/x/tools", "golang.org/x/mod"}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") {
			continue
		}
		path := fields[0]
		list, err := os.ReadDir(root + "/third_party/licenses/" + path)
		if slices.Contains(testOnly, path) || slices.Contains(notLinked, path) {
			continue
		}
		if err != nil || len(list) == 0 {
			t.Errorf("%s has no licence text in third_party/licenses", path)
		}
	}
}
