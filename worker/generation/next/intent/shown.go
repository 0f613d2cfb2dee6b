package intent

import "github.com/slipway-qa/slipway/worker/generation/next/lexicon"

// onPage makes a value of a phrase that says where it stands: "the value of Language", "the code
// that is shown above".
func (r *reader) onPage(v *Value, p *phrase) {
	if v.Quoted || v.Number != nil || v.Date != nil || len(p.core) < 2 || !p.core[0].has(lexicon.Article, "definite") {
		return
	}
	if !r.shows(p.rel) && !(len(p.mods) > 0 && p.mods[0].leads("of") && r.valueNoun(p)) {
		return
	}
	from := r.description(&phrase{core: p.core, mods: p.mods})
	from.Span = p.span()
	v.From = &from
	v.Span = p.span()
}

// valueNoun reports whether a phrase is called after what fields and cells hold.
func (r *reader) valueNoun(p *phrase) bool {
	last := &p.core[len(p.core)-1]
	return last.has(lexicon.Noun_, string(Value_), string(Text_)) && !last.proper(r.lang)
}

// shows reports whether a relative clause says that something is seen.
func (r *reader) shows(rel []item) bool {
	for i := range rel {
		if rel[i].has(lexicon.State, "visible", "shown") {
			return true
		}
		for _, v := range rel[i].verbs {
			if v.Effect == string(Check) && (v.Property == string(Shown) || v.Property == string(Appears)) {
				return true
			}
		}
	}
	return false
}

// pasted makes of what is copied and pasted into a field a value that stands on the page: "copy
// the text of the note, paste it into the form".
func pasted(goals []Goal) []Goal {
	for i := 0; i+1 < len(goals); i++ {
		g, next := &goals[i], &goals[i+1]
		if g.Effect != Copy || len(g.Target) != 1 || g.Forbidden || next.Effect != Set || len(next.Fields) != 1 || next.Fields[0].Value.Quoted || len(next.Fields[0].Value.Text) > maxPronoun {
			continue
		}
		from := g.Target[0]
		switch {
		case g.To != nil:
			from = *g.To
		case from.Kind == Text_ && len(from.Words) == 0 && len(from.Having) == 1:
			from = from.Having[0]
		case from.Kind == Text_ && len(from.Words) == 0 && from.Of != nil:
			from = *from.Of
		case from.Kind == Text_ && len(from.Words) == 0 && from.In != nil:
			from = *from.In
		}
		set := *next
		set.Fields = append([]Field{}, next.Fields...)
		set.Fields[0].Value.From = &from
		set.Words = append(append(append([]Span{}, set.Words...), g.Words...), g.Verb, g.Target[0].Span)
		return append(append(append([]Goal{}, goals[:i]...), set), pasted(goals[i+2:])...)
	}
	return goals
}

// maxPronoun is how long a word may be that stands for what was copied.
const maxPronoun = 4
