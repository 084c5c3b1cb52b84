package archtest

import (
	"go/ast"
	"slices"
	"testing"
)

// TestGoroutinesAreGuarded checks that goroutines are started where a panic does not end the process at once: through
// internal/fault or internal/parallel.
func TestGoroutinesAreGuarded(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || slices.Contains([]string{"internal/fault", "internal/parallel"}, f.room) || slices.Contains(forTests, f.room) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a go statement; use fault.Go or parallel.Group", f.position(n))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "sync" && n.Sel.Name == "WaitGroup" || x.Name == "errgroup") {
					t.Errorf("%s: %s.%s; use parallel.Group", f.position(n), x.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}
