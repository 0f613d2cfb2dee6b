package refine

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// reader reads texts of one language, each once.
type reader struct {
	lang string
	kept map[string]intent.Text
}

func newReader(lang string) reader { return reader{lang, map[string]intent.Text{}} }

// text returns what a text asks for.
func (r reader) text(source string) intent.Text {
	t, ok := r.kept[source]
	if !ok {
		t = intent.ReadIn(source, r.lang)
		r.kept[source] = t
	}
	return t
}

// whole returns the goals of a text of which every word was read; nil of others.
func (r reader) whole(source string) []intent.Goal {
	if strings.TrimSpace(source) == "" {
		return nil
	}
	t := r.text(source)
	if len(t.Readings) == 0 || len(t.Readings[0].Unread) > 0 {
		return nil
	}
	return t.Readings[0].Goals
}

// readable reports whether a text is instructions.
func (r reader) readable(source string) bool { return len(r.whole(source)) > 0 }

// claims reports whether a text says what must hold.
func (r reader) claims(source string) bool {
	for _, g := range r.whole(source) {
		if g.Claim != nil || g.If != nil {
			return true
		}
	}
	return false
}

// single returns the goal of a text that is just one.
func (r reader) single(source string) (*intent.Goal, bool) {
	goals := r.whole(source)
	if len(goals) != 1 {
		return nil, false
	}
	return &goals[0], true
}

// value is a text to type, choose or act on, and where it stands.
type value struct {
	text   string
	quoted bool
	span   intent.Span
}

// valueIn returns the one value that a goal is about: what it types or chooses, else the name
// of what it acts on.
func valueIn(source string, g *intent.Goal) (value, bool) {
	if len(g.Fields) == 1 && g.Fields[0].Value.Text != "" {
		return valueOf(&g.Fields[0].Value)
	}
	if len(g.Fields) > 1 || g.Claim != nil {
		return value{}, false
	}
	for _, v := range []*intent.Value{g.Text, g.Become} {
		if v != nil {
			return valueOf(v)
		}
	}
	switch g.Effect {
	case intent.Press, intent.Choose, intent.Complete, intent.Toggle, intent.Open, intent.Add, intent.Select, intent.Set:
	default:
		return value{}, false
	}
	if len(g.Target) != 1 || len(g.Target[0].Words) == 0 {
		return value{}, false
	}
	d := &g.Target[0]
	s := intent.Span{From: d.Words[0].Span.From, To: d.Words[len(d.Words)-1].Span.To}
	if s.From < 0 || s.To > len(source) || s.From >= s.To {
		return value{}, false
	}
	return value{text: strings.Trim(source[s.From:s.To], quotes), quoted: d.Quoted && quotedAt(source, s), span: s}, true
}

func valueOf(v *intent.Value) (value, bool) {
	return value{text: v.Text, quoted: v.Quoted, span: v.Span}, v.From == nil
}

// quotes are the marks around a quoted text.
const quotes = "\"'“”„«»‘’‚`"

// quotedAt reports whether a span of a text is in quotes or has them.
func quotedAt(source string, s intent.Span) bool {
	return strings.ContainsAny(source[s.From:s.To], "\"“”„«»") || s.From > 0 && strings.ContainsAny(source[s.From-1:s.From], "\"'")
}

// setting returns the field that a goal sets and its value, where that is all it asks for.
func setting(source string, g *intent.Goal) (*intent.Description, value, bool) {
	plain := g.If == nil && !g.Forbidden && !g.Otherwise && g.In == nil
	if !plain || g.Effect != intent.Set && g.Effect != intent.Choose {
		return nil, value{}, false
	}
	if len(g.Fields) == 1 {
		f := &g.Fields[0]
		v, ok := valueOf(&f.Value)
		ok = ok && f.Name != nil && f.Value.Text != "" && !f.Off && !f.Keep && len(g.Target) == 0
		return f.Name, v, ok
	}
	if g.Effect != intent.Choose || len(g.Fields) > 0 {
		return nil, value{}, false
	}
	for _, name := range []*intent.Description{g.To, g.From} {
		if name != nil {
			v, ok := valueIn(source, g)
			return name, v, ok
		}
	}
	return nil, value{}, false
}
