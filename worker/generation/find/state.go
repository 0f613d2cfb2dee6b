package find

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// state proves a state of a record.
func (s *searcher) state(r int, st *intent.State) proof {
	has, by := s.ix.recordState(r, st.Name)
	for _, word := range []string{st.Text, st.Name} {
		if has || word == "" {
			continue
		}
		p := s.ix.phrase([]atom{{span: st.Span, text: word}}, s.w.Lang)
		pr := p.explain(s.trueRefs(r, p))
		has, by = len(pr.missing) == 0 && !onlyControl(pr), "attribute"
	}
	if has != st.Not {
		if st.Not {
			by = "not " + st.Name
		}
		return proof{score: 0.95, used: []Use{{st.Span, by}}, own: true}
	}
	return proof{missing: []intent.Span{st.Span}}
}

// onlyControl reports whether words were explained by names of controls alone: "Delete" in a
// row does not say that the row is deleted.
func onlyControl(p proof) bool {
	for _, u := range p.used {
		if u.By != roleNames[inner] {
			return false
		}
	}
	return true
}

// recordState reports whether a record is in a state of the lexicon, and by what.
func (ix *index) recordState(r int, name string) (bool, string) {
	rec := &ix.m.Records[r]
	if slices.ContainsFunc(rec.States, func(x string) bool { return ix.words.sameState(x, name) }) {
		return true, "state"
	}
	for i := range rec.Attributes {
		a := &rec.Attributes[i]
		if len(a.Text) < 40 && a.Text != rec.Title && ix.words.hasState(a.Text, name) {
			return true, "attribute"
		}
		if a.Struck && a.Text == rec.Title && ix.words.sameState("done", name) {
			return true, "struck through"
		}
	}
	for _, f := range ix.inside[r] {
		if ok, known := ix.fieldState(&ix.m.Fields[f], name); known && ok {
			return true, "box"
		}
	}
	for _, c := range rec.Controls {
		if k := &ix.m.Controls[c]; k.State != "" && ix.words.sameState(k.State, name) && ix.m.Nodes[k.Node].Role == "checkbox" {
			return true, "box"
		}
	}
	return false, ""
}

// fieldState reports whether a field is in a state; known is false for states that fields do
// not have.
func (ix *index) fieldState(f *page.Field, name string) (holds, known bool) {
	n := &ix.m.Nodes[f.Node]
	class := ix.words.stateClass(name)
	switch class {
	case "checked", "on", "selected", "done":
		if n.Checked != "" {
			return n.Checked == "true", true
		}
		if class == "selected" && n.Selected != "" {
			return n.Selected == "true", true
		}
	case "unchecked", "off", "unselected":
		if n.Checked != "" {
			return n.Checked == "false", true
		}
	case "disabled", "locked":
		return f.Disabled || n.Disabled, true
	case "enabled":
		return !f.Disabled && !n.Disabled, true
	case "readonly":
		return f.ReadOnly, true
	case "empty":
		return f.Value == "", true
	case "filled":
		return f.Value != "", true
	case "required":
		return f.Required, true
	case "invalid":
		return n.Invalid, true
	case "focused":
		return n.Focused, true
	}
	return false, false
}

// nodeState reports whether any node is in a state.
func (ix *index) nodeState(node int, name string) (holds, known bool) {
	if node < 0 || node >= len(ix.m.Nodes) {
		return false, false
	}
	n := &ix.m.Nodes[node]
	switch ix.words.stateClass(name) {
	case "checked", "on", "pressed":
		return n.Checked == "true", n.Checked != ""
	case "unchecked", "off":
		return n.Checked == "false", n.Checked != ""
	case "selected", "active", "current":
		if n.Selected == "" && n.Checked != "" {
			return n.Checked == "true", true
		}
		return n.Selected == "true", n.Selected != ""
	case "disabled", "locked":
		return n.Disabled, true
	case "enabled":
		return !n.Disabled, true
	case "expanded", "open":
		return n.Expanded == "true", n.Expanded != ""
	case "collapsed", "closed":
		return n.Expanded == "false", n.Expanded != ""
	case "readonly":
		return n.ReadOnly, true
	case "required":
		return n.Required, true
	case "invalid":
		return n.Invalid, true
	case "focused":
		return n.Focused, true
	case "empty":
		return n.Value == "" && n.Text == "", n.HasValue
	}
	return false, false
}
