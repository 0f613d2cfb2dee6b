package find

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// sketch builds models by hand.
type sketch struct{ m *page.Model }

func newSketch(lang, title string) *sketch {
	s := &sketch{&page.Model{Snapshot: &snapshot.Snapshot{Lang: lang, Title: title}, Front: -1}}
	s.node(-1, snapshot.Node{Role: "document", Tag: "body"})
	return s
}

func (s *sketch) node(parent int, n snapshot.Node) int {
	n.Parent = parent
	i := len(s.m.Nodes)
	n.Ref = "n" + strconv.Itoa(i)
	n.Box = [4]int{10, 20 * i, 100, 18}
	s.m.Nodes = append(s.m.Nodes, n)
	return i
}

// container adds a container below another one's node; -1 below the page.
func (s *sketch) container(kind, title string, parent int) int {
	node := 0
	if parent >= 0 {
		node = s.m.Containers[parent].Node
	}
	n := s.node(node, snapshot.Node{Role: "region", Name: title})
	s.m.Containers = append(s.m.Containers, page.Container{Node: n, Kind: kind, Title: title, Parent: parent, Opener: -1})
	return len(s.m.Containers) - 1
}

// table adds a group of records. The first cell of a row is its title. A cell "[Delete]" is a
// button, "(Name)" a box that is off, "(x Name)" one that is on.
func (s *sketch) table(in int, title string, columns string, rows ...string) int {
	parent := 0
	if in >= 0 {
		parent = s.m.Containers[in].Node
	}
	g := len(s.m.Groups)
	gn := s.node(parent, snapshot.Node{Role: "table", Name: title})
	group := page.Group{Node: gn, Kind: "table", Title: title, Pager: -1, Counter: -1}
	names := strings.Split(columns, "|")
	for _, c := range names {
		group.Columns = append(group.Columns, page.Column{Name: c, Node: s.node(gn, snapshot.Node{Role: "columnheader", Name: c})})
	}
	for i, row := range rows {
		rn := s.node(gn, snapshot.Node{Role: "row"})
		r := len(s.m.Records)
		group.Records = append(group.Records, r)
		s.m.Records = append(s.m.Records, page.Record{Group: g, Node: rn, Index: i, Parent: -1})
		for j, cell := range strings.Split(row, "|") {
			name := ""
			if j < len(names) {
				name = names[j]
			}
			s.cell(r, name, cell)
		}
		rec := &s.m.Records[r]
		if len(rec.Attributes) > 0 {
			rec.Title = rec.Attributes[0].Text
		}
	}
	s.m.Groups = append(s.m.Groups, group)
	return g
}

func (s *sketch) cell(r int, name, text string) {
	rec := &s.m.Records[r]
	switch {
	case strings.HasPrefix(text, "["):
		rec.Controls = append(rec.Controls, s.control(rec.Node, strings.Trim(text, "[]"), "button", r))
	case strings.HasPrefix(text, "("):
		label, on := strings.CutPrefix(strings.Trim(text, "()"), "x ")
		s.field(rec.Node, "switch", label, strconv.FormatBool(on))
		f := &s.m.Fields[len(s.m.Fields)-1]
		f.Record = r
		s.m.Nodes[f.Node].Checked = strconv.FormatBool(on)
	default:
		n := s.node(rec.Node, snapshot.Node{Role: "cell", Name: text, Text: text})
		rec.Attributes = append(rec.Attributes, typed(name, text, n))
		s.m.Lines = append(s.m.Lines, page.Line{Node: n, Text: text, Record: r, Container: -1})
	}
}

func typed(name, text string, node int) page.Attribute {
	a := page.Attribute{Name: name, Text: text, Node: node, Type: page.Text}
	bare, unit := text, ""
	for _, u := range []string{" €", " days", " min", " kg", " stars"} {
		if rest, ok := strings.CutSuffix(text, u); ok {
			bare, unit = rest, strings.TrimSpace(u)
		}
	}
	if n, err := strconv.ParseFloat(bare, 64); err == nil {
		a.Number, a.Unit, a.Type = &n, unit, page.Number
		switch unit {
		case "€":
			a.Type = page.Money
		case "days", "min":
			a.Type = page.Duration
		case "stars":
			a.Type = page.Rating
		}
	}
	return a
}

func (s *sketch) control(parent int, name, role string, record int) int {
	n := s.node(parent, snapshot.Node{Role: role, Name: name, Text: name, Interactive: true})
	s.m.Controls = append(s.m.Controls, page.Control{Node: n, Role: role, Names: []page.Name{{Text: name, From: "name"}},
		Record: record, Container: -1, Reveal: -1})
	return len(s.m.Controls) - 1
}

// field adds a field; options are separated by "|", the chosen one begins with "*".
func (s *sketch) field(parent int, kind, label, value string, options ...string) int {
	role := map[string]string{"switch": "checkbox", "choice": "combobox", "number": "spinbutton"}[kind]
	n := s.node(parent, snapshot.Node{Role: role, Name: label, Value: value, HasValue: true})
	f := page.Field{Node: n, Kind: kind, Label: label, Names: []string{label}, Container: -1, Record: -1, Value: value}
	for _, o := range options {
		name, on := strings.CutPrefix(o, "*")
		f.Options = append(f.Options, page.Option{Label: name, Value: name, Node: -1, Selected: on})
	}
	s.m.Fields = append(s.m.Fields, f)
	return len(s.m.Fields) - 1
}

func (s *sketch) line(in int, text string) int {
	parent := 0
	if in >= 0 {
		parent = s.m.Containers[in].Node
	}
	n := s.node(parent, snapshot.Node{Role: "text", Name: text, Text: text})
	s.m.Lines = append(s.m.Lines, page.Line{Node: n, Text: text, Record: -1, Container: in})
	return len(s.m.Lines) - 1
}

// spans gives each word of a hand-made description a place of its own.
type spans struct{ at int }

func (p *spans) next(text string) intent.Span {
	s := intent.Span{From: p.at, To: p.at + len(text)}
	p.at += len(text) + 1
	return s
}

// say makes a description: words, then a noun after "/": "blue/van".
func (p *spans) say(text string) intent.Description {
	name, noun, _ := strings.Cut(text, "/")
	d := intent.Description{}
	from := p.at
	quoted := strings.HasPrefix(name, `"`)
	d.Quoted = quoted
	for _, w := range strings.Fields(strings.Trim(name, `"`)) {
		d.Words = append(d.Words, intent.Word{Span: p.next(w), Text: w})
	}
	if noun != "" {
		d.Noun, d.NounSpan = noun, p.next(noun)
	}
	d.Span = intent.Span{From: from, To: p.at}
	return d
}
