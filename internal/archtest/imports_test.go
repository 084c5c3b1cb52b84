package archtest

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

// module is the path of this project.
const module = "slackline/"

// rooms says which packages of the project a package may import, beside
// model/unit and the helpers below internal. An entry that ends in "/" allows a
// whole floor. A package that is not listed here does not belong to the house.
var rooms = map[string][]string{
	"model/unit":       {},
	"model/noise":      {},
	"model/machine":    {"model/noise"},
	"model/schedule":   {},
	"model/collective": {"model/schedule"},
	"model/pattern":    {"model/schedule", "model/collective"},
	"model/clock":      {},
	"model/timeline":   {},
	"model/trace":      {"model/clock", "model/timeline"},
	"model/dataset":    {"model/cube"},
	"model/cube":       {},

	"observe/mpi":         {},
	"observe/mpi/mpitest": {"observe/mpi"},
	"observe/record":      {"observe/mpi", "model/trace", "model/timeline"},
	"observe/inject":      {"observe/mpi", "model/noise"},
	"observe/measure":     {"observe/mpi", "model/machine", "model/noise", "model/clock", "model/dataset"},
	"observe/campaign":    {"observe/mpi", "model/dataset"},

	"analyze/replay":    {"model/trace", "model/timeline", "model/schedule", "model/collective"},
	"analyze/simulate":  {"analyze/tolerance", "model/machine", "model/noise", "model/schedule", "model/collective", "model/timeline"},
	"analyze/tolerance": {"model/machine", "model/noise", "model/schedule", "model/collective"},
	"analyze/profile":   {"model/timeline"},
	"analyze/waits":     {"analyze/profile", "model/timeline"},
	"analyze/scaling":   {"model/dataset"},
	"analyze/compare":   {"analyze/profile", "analyze/waits"},
	"analyze/whatif":    {"analyze/replay", "analyze/simulate", "analyze/tolerance", "analyze/waits", "analyze/profile", "model/"},

	"show/plot":    {},
	"show/figures": {"show/plot", "analyze/", "model/"},
	"show/report":  {"show/plot", "show/figures", "analyze/", "model/"},
	"show/explore": {"show/plot", "show/figures", "analyze/", "model/"},

	"cli/exit":     {},
	"cli/flags":    {"cli/exit", "model/pattern"},
	"cli/phrase":   {"model/timeline"},
	"cli/job":      {"cli/exit", "cli/flags", "observe/mpi"},
	"cli/document": {},
	"cli/env":      {"cli/document", "cli/exit", "cli/flags", "cli/phrase", "cli/job", "observe/mpi", "show/plot"},
	"cli/input":    {"model/", "analyze/replay"},
	"cli/listing":  {"cli/env", "cli/flags"},
	"cli/scenario": {"cli/env", "cli/exit", "cli/flags", "cli/phrase", "cli/input", "model/", "analyze/replay", "analyze/simulate", "analyze/whatif"},
	"cli/export":   {"cli/env", "cli/exit", "cli/flags", "cli/phrase", "cli/input", "cli/scenario", "model/"},
	"cli/datasets": {"cli/env", "cli/exit", "cli/flags", "cli/phrase", "cli/input", "cli/scenario", "model/", "analyze/", "observe/campaign"},

	"cli/clitest": {"cli", "observe/mpi", "observe/mpi/mpitest"},

	"cli":           {"cli/", "model/", "observe/", "analyze/", "show/"},
	"cmd/slackline": {"cli"},
}

// shared are the packages of the command line that all verbs use.
var shared = []string{"cli/document", "cli/exit", "cli/flags", "cli/phrase", "cli/job", "cli/env", "cli/input", "cli/listing", "cli/scenario", "cli/export", "cli/datasets"}

// verbs are the packages of verbs that build on other verbs. Any other package below cli that is not listed above is a verb, too: it may
// import the shared packages and all floors below, but no verb.
var verbs = map[string][]string{
	"cli/campaign": {"cli/check", "cli/scaling"},
	"cli/check":    {"cli/scaling"},
	"cli/compare":  {"cli/measure"},
	"cli/profile":  {"cli/waits"},
	"cli/report":   {"cli/check"},
}

// isVerb reports whether a package is that of a verb.
func isVerb(room string) bool {
	_, listed := rooms[room]
	return !listed && strings.HasPrefix(room, "cli/")
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
	list := rooms[room]
	if isVerb(room) {
		list = slices.Concat(shared, verbs[room], []string{"model/", "observe/", "analyze/", "show/"})
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
		{"cli/profile", "cli/waits", true},
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
		if _, ok := rooms[f.room]; !ok && !isHelper(f.room) && !isVerb(f.room) {
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
var forTests = []string{"cli/clitest", "internal/browser", "internal/needed", "internal/slurmtest", "observe/mpi/mpitest"}

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
	notLinked := []string{"github.com/inconshreveable/mousetrap", "golang.org/x/tools", "golang.org/x/mod"} // for Windows alone, or tools of tests
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
