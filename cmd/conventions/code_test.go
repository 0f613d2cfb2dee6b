package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostErrNil allows for lookups that return at once when they find; more of them are a
// ladder.
const mostErrNil = 2

// Errors return early. A ladder is a statement that goes on while err is nil:
// `if err == nil { err = next() }`.
func TestErrorsReturnEarly(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		plain := 0
		ast.Inspect(s.file, func(n ast.Node) bool {
			branch, ok := n.(*ast.IfStmt)
			if !ok || branch.Init != nil || !beginsWithErrNil(branch.Cond) {
				return true
			}
			plain++
			if assignsErr(branch.Body) {
				t.Errorf("%s: a step of a ladder: return early", s.position(branch.Pos()))
			}
			return true
		})
		if plain > mostErrNil {
			t.Errorf("%s has `if err == nil` %d times: return early", s.name, plain)
		}
	}
}

// beginsWithErrNil reports whether a condition is err == nil, alone or as the
// first of several that must all hold.
func beginsWithErrNil(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if b.Op == token.LAND {
		return beginsWithErrNil(b.X)
	}
	return b.Op == token.EQL && isNamed(b.X, "err") && isNamed(b.Y, "nil")
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// assignsErr reports whether a block assigns to the err around it.
func assignsErr(block *ast.BlockStmt) (assigns bool) {
	for _, statement := range block.List {
		if a, ok := statement.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, left := range a.Lhs {
				assigns = assigns || isNamed(left, "err")
			}
		}
	}
	return assigns
}

func TestLadders(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"if err == nil { err = f() }":                true,
		"if err == nil && x { _, err = f() }":        true,
		"if err == nil { return }":                   false,
		"if err == nil { err := f(); _ = err }":      false,
		"if err != nil { err = f() }":                false,
		"if x && err == nil { err = f() }":           false,
		"if _, err := f(); err == nil { err = g() }": false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+body+" }", 0)
		require.NoError(t, err)
		branch := file.Decls[0].(*ast.FuncDecl).Body.List[0].(*ast.IfStmt)
		require.Equal(t, want, branch.Init == nil && beginsWithErrNil(branch.Cond) && assignsErr(branch.Body), body)
	}
}

// A package says in one place, and in some paragraphs, what it is for, how it
// works and how it fails.
func TestPackageDocs(t *testing.T) {
	t.Parallel()
	const fewest, most = 5, 30
	docs := map[string][]string{}
	for _, f := range parseFiles(t) {
		if f.test {
			continue
		}
		start := "Package " + f.pkg + " "
		if f.pkg == "main" {
			start = "Command " + filepath.Base(f.folder) + " "
		}
		docs[f.folder] = append(docs[f.folder], "")
		if f.doc == "" {
			continue
		}
		require.True(t, strings.HasPrefix(f.doc, start), "%s: the package's comment begins with %q", f.name, start)
		docs[f.folder][0] += f.doc
	}
	for folder, doc := range docs {
		if n := strings.Count(doc[0], "\n"); n < fewest || n > most {
			t.Errorf("%s: the package's comment has %d lines, not %d to %d", folder, n, fewest, most)
		}
	}
}
