package report

import (
	"strings"
	"testing"
)

var benchmarks = []struct {
	name string
	doc  []byte
}{
	{"4KB", []byte(nodeReport(12, 12, 3))},
	{"60KB", []byte(sourceReport(50_000))},
	{"60KB-dense", []byte(nodeReport(20, 60, 240))},
}

// sourceReport is a report of the Node shape with 60 variables and 30
// breadcrumbs, and with n bytes of source text, as the Go client sends it.
// The dense one has annotations only, nearly all short tokens.
func sourceReport(n int) string {
	line := `\tif err := s.store.Save(ctx, item); err != nil {\n\t\treturn fmt.Errorf(\"save: %w\", err)\n\t}\n`
	doc := nodeReport(20, 60, 30)
	return doc[:len(doc)-1] + `,"sourceCode":{"main.go":{"path":"main.go","startLine":1,"text":"` + strings.Repeat(line, n/len(line)) + `"}}}`
}

func BenchmarkCheck(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Check(bm.doc, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(bm.doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScrub(b *testing.B) {
	doc := benchmarks[2].doc
	head, err := Check(doc, Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(doc)))
	var dst []byte
	for b.Loop() {
		dst = Scrub(dst[:0], head)
	}
}
