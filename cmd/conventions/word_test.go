package conventions

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainWords says which term a name uses instead of a word that only this project
// knew. A word of several is written with spaces: "at once" is atOnce.
var plainWords = map[string]string{
	"at once":      "single statement, immediate",
	"beat":         "heartbeat",
	"beats":        "heartbeats",
	"book":         "reserve",
	"booked":       "reserved",
	"camera":       "screenshotter",
	"develop":      "encode",
	"floor":        "baseline",
	"floors":       "baselines",
	"hear":         "mark",
	"heard":        "marked",
	"joins":        "coalesced",
	"led":          "what it does",
	"lens":         "source",
	"passed over":  "skipped",
	"patience":     "grace period",
	"performance":  "execution",
	"roll":         "capture",
	"silent heart": "expired heartbeat",
	"stranger":     "unauthenticated",
	"strangers":    "unauthenticated",
	"tidy":         "maintenance",
	"upkeep":       "maintenance",
	"vault":        "secret store",
	"wish":         "trigger",
	"wishes":       "triggers",
}

// inTests are words of plainWords with an everyday meaning that tests may use: a
// stranger to an organization, two requests at once.
var inTests = []string{"at once", "floor", "stranger", "strangers"}

// plainWholes are words that are wrong as the whole name of a function, type, field
// or constant, since they say nothing alone.
var plainWholes = []string{"one", "rest", "again"}

var wordEdge = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])|_`)

// words splits a name: newHTTPBeat is new, http, beat.
func words(name string) []string {
	return strings.Fields(strings.ToLower(wordEdge.ReplaceAllString(name, "$1$3 $2$4")))
}

// wrongWord returns the word of a name that has a plain term; "" if there is none.
func wrongWord(name string) string {
	all := words(name)
	for i, word := range all {
		if plainWords[word] != "" {
			return word
		}
		if i+1 < len(all) && plainWords[word+" "+all[i+1]] != "" {
			return word + " " + all[i+1]
		}
	}
	return ""
}

func TestWrongWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Beat": "beat", "newHTTPBeat": "beat", "beatHTTP": "beat", "Heartbeat": "", "BEAT_EVERY": "beat",
		"atOnce": "at once", "atMost": "", "Bookmark": "", "aggregate": "", "passedOver": "passed over",
	} {
		require.Equal(t, want, wrongWord(name), name)
	}
}

// Names are in the field's terms, one word for one thing.
func TestNamesArePlain(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if word := wrongWord(strings.TrimSuffix(path.Base(s.name), ".go")); word != "" {
			t.Errorf("%s: the file's name says %q; the plain term is %s", s.name, word, plainWords[word])
		}
		for _, id := range declared(s.file) {
			word := wrongWord(id.Name)
			if word != "" && !(s.test && slices.Contains(inTests, word)) {
				t.Errorf("%s: %s says %q; the plain term is %s", s.position(id.Pos()), id.Name, word, plainWords[word])
			}
		}
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(plainWholes, strings.ToLower(f.Name.Name)) {
				t.Errorf("%s: %s says nothing alone", s.position(f.Pos()), f.Name.Name)
			}
		}
	}
}

// declared returns the names that a file declares: functions, types, values, fields,
// parameters and variables.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			names = append(names, x.Name)
		case *ast.TypeSpec:
			names = append(names, x.Name)
		case *ast.ValueSpec:
			names = append(names, x.Names...)
		case *ast.Field:
			names = append(names, x.Names...)
		case *ast.AssignStmt:
			for _, left := range x.Lhs {
				if id, ok := left.(*ast.Ident); ok && x.Tok.String() == ":=" {
					names = append(names, id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{x.Key, x.Value} {
				if id, ok := e.(*ast.Ident); ok && x.Tok.String() == ":=" {
					names = append(names, id)
				}
			}
		}
		return true
	})
	return names
}
