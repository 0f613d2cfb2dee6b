package mailtemplate

import (
	"fmt"
	"strings"
)

// Bounds of the template language. A template has no loops and no functions, so
// what it costs grows with its length alone.
const (
	maxTemplate = 32 << 10 // bytes of a text
	maxNodes    = 500      // placeholders and sections
	maxDepth    = 8        // sections inside of each other
)

// node is a piece of a parsed template: a literal text, a placeholder, or a
// section, whose inner nodes are shown when its value is not empty.
type node struct {
	literal string
	name    string
	section bool
	inner   []node
}

// parser reads a template: {{name}} and {{#name}}...{{/name}}.
type parser struct {
	rest  string
	line  int
	nodes int
	known func(name string) bool
}

// parse reads a text. known reports which names there are. The error is a
// sentence for who wrote the text.
func parse(text string, known func(string) bool) ([]node, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("must have at most %d bytes", maxTemplate)
	}
	p := &parser{rest: text, line: 1, known: known}
	return p.sequence("", 0)
}

// sequence reads nodes up to the end of a section, or of the text when there is
// none.
func (p *parser) sequence(open string, depth int) ([]node, error) {
	var list []node
	for {
		literal, rest, found := strings.Cut(p.rest, "{{")
		lone := (literal == "" && len(list) == 0 && depth == 0) || strings.HasSuffix(literal, "\n")
		if literal != "" {
			list = append(list, node{literal: literal})
			p.line += strings.Count(literal, "\n")
		}
		if !found {
			p.rest = ""
			if open != "" {
				return nil, fmt.Errorf("the section {{#%s}} has no end {{/%s}}", open, open)
			}
			return list, nil
		}
		p.rest = rest
		name, err := p.tag()
		if err != nil {
			return nil, err
		}
		switch {
		case strings.HasPrefix(name, "/"):
			if name[1:] != open || open == "" {
				return nil, fmt.Errorf("line %d: {{%s}} ends no section that is open", p.line, name)
			}
			p.skipLineEnd(lone)
			return list, nil
		case strings.HasPrefix(name, "#"):
			if depth == maxDepth {
				return nil, fmt.Errorf("line %d: at most %d sections inside of each other", p.line, maxDepth)
			}
			p.skipLineEnd(lone)
			inner, err := p.sequence(name[1:], depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, node{name: name[1:], section: true, inner: inner})
		default:
			list = append(list, node{name: name})
		}
	}
}

// tag reads the rest of a {{ }} and returns what is in it.
func (p *parser) tag() (string, error) {
	inside, rest, found := strings.Cut(p.rest, "}}")
	if !found || strings.ContainsAny(inside, "{}\n") {
		return "", fmt.Errorf("line %d: {{ has no }}", p.line)
	}
	p.rest = rest
	if p.nodes++; p.nodes > maxNodes {
		return "", fmt.Errorf("at most %d placeholders", maxNodes)
	}
	name := strings.TrimSpace(inside)
	bare := strings.TrimLeft(name, "#/")
	if len(name)-len(bare) > 1 || bare != strings.TrimSpace(bare) {
		return "", fmt.Errorf("line %d: {{%s}} is no placeholder", p.line, clip(name))
	}
	if !p.known(bare) {
		return "", fmt.Errorf("line %d: there is no placeholder {{%s}} in this kind of mail", p.line, clip(bare))
	}
	return name, nil
}

// skipLineEnd leaves out the line end behind a section's tag that stands alone on
// its line.
func (p *parser) skipLineEnd(lone bool) {
	if !lone {
		return
	}
	if rest, found := strings.CutPrefix(strings.TrimPrefix(p.rest, "\r"), "\n"); found {
		p.rest = rest
		p.line++
	}
}

// clip bounds a name inside an error.
func clip(name string) string { return truncate(oneLine(name, maxName), maxName) }

// piece is a part of a line: a literal text, a placeholder, or the place of a
// section that is not shown.
type piece struct {
	literal string
	name    string
	gone    bool
}

// expand decides the sections: shown reports whether a name has a value.
func expand(list []node, shown func(string) bool) []piece {
	var out []piece
	for _, n := range list {
		switch {
		case n.section && shown(n.name):
			out = append(out, expand(n.inner, shown)...)
		case n.section:
			out = append(out, piece{gone: true})
		case n.name != "":
			out = append(out, piece{name: n.name})
		default:
			out = append(out, piece{literal: n.literal})
		}
	}
	return out
}

// lines divides pieces at the line ends of the literal texts.
func lines(pieces []piece) [][]piece {
	all := [][]piece{nil}
	for _, p := range pieces {
		if p.literal == "" {
			all[len(all)-1] = append(all[len(all)-1], p)
			continue
		}
		for i, part := range strings.Split(strings.ReplaceAll(p.literal, "\r\n", "\n"), "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			if part != "" {
				all[len(all)-1] = append(all[len(all)-1], piece{literal: part})
			}
		}
	}
	return all
}
