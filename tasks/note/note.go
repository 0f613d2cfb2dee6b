// Package note converts Markdown from outside (release notes, the descriptions of
// apps) to HTML that is safe in a page or a mail.
//
// This takes three steps. The text is bounded before it is parsed: its length,
// and how deep a line nests, because parsers of Markdown take quadratic time
// for thousands of quotation marks. The parser is configured to leave raw HTML
// out. And its output goes through a policy that names the few elements that
// may remain: paragraphs, line breaks, emphasis, lists, quotations, code,
// headings, rules, tables, and links to http, https and mailto. There are no images,
// styles, classes, ids or event attributes.
//
// Headings are demoted by two levels, since a note is a part of a page that has a
// title and headings. Line breaks are kept as they are written: change logs of
// build scripts are lines, not paragraphs. An image is replaced by its description.
//
// Nothing fails: what cannot be read as Markdown is text.
package note

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// MaxLength is how much of a text is read, in bytes: some twenty printed pages.
	MaxLength = 64 << 10
	// maxNesting is how many marks that open a block may begin a line. People
	// nest lists three or four deep.
	maxNesting = 16
	// maxOpen is how many brackets or emphasis marks are read as such; beyond it
	// the text is shown as it is written. A long change log has some hundred.
	maxOpen = 4000
	// maxCells bounds the cells of tables: a row is filled up to the width of its
	// table's head, so that few bytes make many cells. Beyond it there are no tables.
	maxCells = 10_000
	// demotion is what is added to the level of a heading.
	demotion = 2
)

// HTML returns a note as safe HTML; "" for an empty one.
func HTML(markdown string) template.HTML {
	source := bound(markdown)
	if source == "" {
		return ""
	}
	var out bytes.Buffer
	if hasTooManyMarks(source) || converterFor(source).Convert([]byte(source), &out) != nil {
		return "<p>" + template.HTML(lineBreaks.Replace(template.HTMLEscapeString(source))) + "</p>\n"
	}
	return template.HTML(wideTables.Replace(string(policy().SanitizeBytes(out.Bytes()))))
}

// wideTables puts a table, which may be wider than a phone, into a frame of its own, where it
// scrolls, by the keyboard too. Text cannot look like the tags, for its < is written as &lt;.
var wideTables = strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>")

var lineBreaks = strings.NewReplacer("\n", "<br>\n")

// bound returns a text cleaned and shortened: valid UTF-8 without control
// characters, at most MaxLength bytes, no line that nests too deep.
func bound(s string) string {
	cut := len(s) > MaxLength
	if cut {
		s = s[:MaxLength]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		s = s[:max(0, len(s)-1)] // the rune that may have been cut through
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case r < ' ', r == 0x7f, isDirectionMark(r):
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if cut {
		s += " …"
	}
	if s == "" {
		return ""
	}
	parts := strings.Split(s, "\n")
	for i, line := range parts {
		parts[i] = flatten(line)
	}
	return strings.Join(parts, "\n")
}

// isDirectionMark reports whether a rune changes the direction of text: it can make
// one link look like another.
func isDirectionMark(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// flatten drops the marks beyond maxNesting that begin a line: > anywhere, and
// - + * and numbers where a list could begin. Indentation counts as well, four
// columns a level.
func flatten(line string) string {
	marks, columns := 0, 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == ' ':
			if columns++; columns%4 == 0 {
				marks++
			}
		case c == '\t', c == '>':
			marks++
		case strings.IndexByte("-+*.)", c) >= 0:
			if i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t' {
				marks++
			}
		case c >= '0' && c <= '9':
		default:
			return line
		}
		if marks > maxNesting {
			return strings.TrimLeft(line[i:], " \t>-+*.)0123456789")
		}
	}
	return line
}

// hasTooManyMarks reports whether pairing the marks of a text would take too long:
// it takes quadratic time.
func hasTooManyMarks(s string) bool {
	var marks int
	for i := range len(s) {
		if strings.IndexByte("[]*_~`<!&", s[i]) >= 0 {
			if marks++; marks > maxOpen {
				return true
			}
		}
	}
	return false
}

// hasTooManyCells reports whether the tables of a text could have more than maxCells. The
// line below a table's head has a bar for each column.
func hasTooManyCells(s string) bool {
	columns, lines := 0, 0
	for line := range strings.SplitSeq(s, "\n") {
		lines++
		if strings.ContainsRune(line, '-') && strings.Trim(line, " \t|:-+*>.)0123456789") == "" {
			columns = max(columns, strings.Count(line, "|")+1)
		}
	}
	return columns > 1 && columns*lines > maxCells
}

// converterFor returns the converter for a text.
func converterFor(s string) goldmark.Markdown {
	if hasTooManyCells(s) {
		return plainConverter()
	}
	return converter()
}

// The converters are shared: they keep nothing between conversions.
var (
	converter = sync.OnceValue(func() goldmark.Markdown {
		return newConverter(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)))
	})
	plainConverter = sync.OnceValue(func() goldmark.Markdown { return newConverter() })
)

func newConverter(more ...goldmark.Extender) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(append(more, extension.Strikethrough, extension.NewLinkify(
			extension.WithLinkifyAllowedProtocols([]string{"http:", "https:", "mailto:"})))...),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(demote{}, 100))),
		goldmark.WithRendererOptions(html.WithHardWraps(),
			renderer.WithNodeRenderers(util.Prioritized(imageText{}, 100))),
	)
}

// policy allows what may remain.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "strong", "em", "del", "ul", "ol", "li", "blockquote", "code", "pre", "hr",
		"h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("align").Matching(alignment).OnElements("th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // adds noopener too
	return p
})

var alignment = regexp.MustCompile(`^(left|center|right)$`)

// demote lowers the level of a note's headings.
type demote struct{}

func (demote) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		demoteBelow(n, 0)
	}
}

// demoteBelow follows blocks only: headings stand in quotations and lists, whose
// depth is bounded.
func demoteBelow(n ast.Node, depth int) {
	if h, ok := n.(*ast.Heading); ok {
		h.Level = min(6, h.Level+demotion)
		return
	}
	if n.Type() != ast.TypeBlock || depth > 4*maxNesting {
		return
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		demoteBelow(child, depth+1)
	}
}

// imageText writes the description of an image and nothing else.
type imageText struct{}

func (imageText) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil
	})
}
