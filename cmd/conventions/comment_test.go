package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader of the documentation, and an editor that shows a comment beside a call, see it
// without what stands below it. So a doc comment begins with the declared name, after an
// article at most, and what a package exports has one. A comment that was left behind when
// its function moved names another one, and is found here.
func TestDocCommentsBeginWithTheName(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		for _, d := range documented(s.file) {
			if d.doc != "" && !d.begins() && !(s.test && d.runByGo()) {
				t.Errorf("%s: the comment of %s begins with %q: begin it with the name, or move it to what it describes",
					s.position(d.pos), strings.Join(d.names, ", "), firstWord(d.doc))
			}
			if d.doc == "" && d.public && !s.test {
				t.Errorf("%s: %s is exported and has no comment: say in a sentence that begins with the name what it is or does",
					s.position(d.pos), strings.Join(d.names, ", "))
			}
		}
	}
}

// declaration is something at the top level of a file that a comment may describe.
type declaration struct {
	names  []string
	doc    string // without markers; "" if there is none
	pos    token.Pos
	public bool // a func, method or type that other packages see
}

// ofErrors are methods that the standard library describes for all errors: a comment would only
// repeat that.
var ofErrors = []string{"Error", "Unwrap"}

// documented returns the declarations of a file whose comments are looked at. In a group a
// comment above several declarations, or above the group, describes them together: it may
// begin with anything.
func documented(file *ast.File) (all []declaration) {
	for _, d := range file.Decls {
		switch x := d.(type) {
		case *ast.FuncDecl:
			all = append(all, declaration{[]string{x.Name.Name}, x.Doc.Text(), x.Pos(),
				x.Name.IsExported() && receiverIsExported(x) && !(x.Recv != nil && slices.Contains(ofErrors, x.Name.Name))})
		case *ast.GenDecl:
			if x.Tok != token.IMPORT {
				all = append(all, documentedInGroup(x)...)
			}
		}
	}
	return all
}

func documentedInGroup(group *ast.GenDecl) (all []declaration) {
	for i, spec := range group.Specs {
		d := declaration{pos: spec.Pos()}
		doc := group.Doc
		switch x := spec.(type) {
		case *ast.TypeSpec:
			d.names = []string{x.Name.Name}
			d.public = x.Name.IsExported()
			if group.Lparen.IsValid() {
				doc = x.Doc
			}
		case *ast.ValueSpec:
			for _, name := range x.Names {
				d.names = append(d.names, name.Name)
			}
			if group.Lparen.IsValid() {
				doc = x.Doc
			}
			if len(x.Names) == 1 && x.Names[0].Name == "_" {
				continue // nobody can look it up
			}
			alone := !group.Lparen.IsValid() || i+1 == len(group.Specs) || documentOf(group.Specs[i+1]) != nil
			if !alone || len(x.Names) > 1 {
				doc = nil // above several
			}
		}
		d.doc = doc.Text()
		all = append(all, d)
	}
	return all
}

func documentOf(spec ast.Spec) *ast.CommentGroup {
	switch x := spec.(type) {
	case *ast.TypeSpec:
		return x.Doc
	case *ast.ValueSpec:
		return x.Doc
	}
	return nil
}

// receiverIsExported reports whether a function is no method, or one of an exported type.
func receiverIsExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	var name string
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return ast.IsExported(name)
}

// begins reports whether the comment begins with a declared name.
func (d declaration) begins() bool {
	return slices.Contains(d.names, firstWord(d.doc))
}

// runByGo reports whether the go command calls the function: what such a comment describes
// is what is tested.
func (d declaration) runByGo() bool {
	return regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)($|[^a-z])`).MatchString(d.names[0])
}

var (
	article  = regexp.MustCompile(`^(?:An?|The)\s+`)
	nameEdge = regexp.MustCompile(`^\w*`)
)

// firstWord returns the word that a comment begins with, after an article.
func firstWord(doc string) string {
	return nameEdge.FindString(article.ReplaceAllString(doc, ""))
}

func TestDocComments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"// f returns.\nfunc f() {}":                                    true,
		"// An f returns.\nfunc f() {}":                                 true,
		"// f's end.\nfunc f() {}":                                      true,
		"// Returns.\nfunc f() {}":                                      false,
		"// g returns.\nfunc f() {}":                                    false,
		"// fs are many.\nfunc f() {}":                                  false,
		"// A t is.\ntype t int":                                        true,
		"// It is.\ntype t int":                                         false,
		"// States.\ntype (\n\t// t is.\n\tt int\n)":                    true,
		"type (\n\t// It is.\n\tt int\n)":                               false,
		"// v is.\nvar v int":                                           true,
		"// Value.\nvar v int":                                          false,
		"// Both.\nvar v, w int":                                        true,
		"// Values.\nconst (\n\tv = 1\n)":                               true,
		"const (\n\t// Both.\n\tv = 1\n\tw = 2\n\t// x is.\n\tx = 3\n)": true,
		"const (\n\t// One.\n\tv = 1\n\t// w is.\n\tw = 2\n)":           false,
		"const (\n\t// v is.\n\tv = 1\n\t// Last.\n\tw = 2\n)":          false,
		"// It must.\nvar _ = 1":                                        true,
		"//go:noinline\nfunc f() {}":                                    true,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n\n"+text, parser.ParseComments)
		require.NoError(t, err)
		good := true
		for _, d := range documented(file) {
			good = good && (d.doc == "" || d.begins())
		}
		require.Equal(t, want, good, text)
	}
}
