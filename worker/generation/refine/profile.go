package refine

import (
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// profile is what is known of a step, as sentences speak of it.
type profile struct {
	// names are what its element is called, values what it types, chooses or expects.
	names, values []string
	said          string // its reasoning
	role          string
	submits       bool
}

func newProfile(s step.Step) profile {
	var p profile
	t := tool(s)
	for _, sel := range []*step.Selector{t.Args.Selector, t.Args.Target} {
		p.addSelector(sel, 0)
	}
	for _, text := range []*string{t.Args.Text, t.Args.OptionValue} {
		if text != nil {
			p.addValue(*text)
		}
	}
	if t.Args.Matcher != nil && t.Args.Matcher.Name != step.AttributeIs {
		p.addValue(t.Args.Matcher.Args.Value)
	}
	p.addValue(t.Args.Key)
	if t.Args.File != nil {
		p.addValue(t.Args.File.Name)
	}
	if u, err := url.Parse(t.Args.URL); err == nil && t.Args.URL != "" {
		p.addValue(u.Path + " " + u.RawQuery)
	}
	if t.Type == step.EnterKeySubmit || t.Type == step.PressKey && t.Args.Key == "Enter" {
		p.submits = true
	}
	p.said = cut(t.Args.Reasoning, 300)
	return p
}

// maxNames bounds the names of one element: its own and those of the row that it is in.
const maxNames = 40

func (p *profile) addName(texts ...string) {
	for _, t := range texts {
		if t != "" && len(p.names) < maxNames && !slices.Contains(p.names, t) {
			p.names = append(p.names, cut(t, 300))
		}
	}
}

func (p *profile) addValue(text string) {
	if text != "" {
		p.values = append(p.values, cut(text, 300))
	}
}

// addSelector adds what a selector says of an element, and where it is: the row of the
// lamp is part of the name of its button.
func (p *profile) addSelector(s *step.Selector, depth int) {
	if s == nil || depth > step.MaxNesting {
		return
	}
	switch s.Type {
	case step.ByRole:
		if depth == 0 {
			p.role = s.Value
		}
		p.addName(s.Name)
	case step.CSS, step.XPath:
		if s.Fingerprint == nil {
			p.addName(selectorWords(s.Value))
		}
	default:
		p.addName(s.Value)
	}
	p.addName(s.HasText)
	if f := s.Fingerprint; f != nil {
		if depth == 0 && f.Role != "" {
			p.role = f.Role
		}
		p.addName(f.Name, f.Label, f.Text, f.Placeholder, f.TestID)
		for _, a := range []string{"name", "id", "title", "aria-label", "alt"} {
			p.addName(f.Attributes[a])
		}
		p.submits = p.submits || f.Attributes["type"] == "submit"
		if f.Surroundings != nil && f.Surroundings.Row != nil {
			p.addName(f.Surroundings.Row.Texts...)
		}
	}
	p.addSelector(s.Within, depth+1)
	p.addSelector(s.Has, depth+1)
}

// selectorWords returns the names in a CSS selector or XPath, without its syntax.
func selectorWords(value string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("#.[]()=>'\"/@*:+~^$|,", r) {
			return ' '
		}
		return r
	}, cut(value, 300))
}

// cut returns at most the given number of characters of a text.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

// isValue reports whether a text is what a step types, chooses or is named, as a whole
// or as words of it.
func (p *profile) isValue(text string) bool {
	return slices.ContainsFunc(p.values, func(v string) bool { return mentions(v, text) }) ||
		slices.ContainsFunc(p.names, func(n string) bool { return mentions(n, text) })
}
