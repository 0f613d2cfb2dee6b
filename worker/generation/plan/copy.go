package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// copyText copies what one thing holds into a field. Out of a field it is done with keys,
// so that a replay copies what stands there then; what cannot be selected with them is
// typed as it stands there now.
func copyText(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	source := sourceOf(in.Target)
	from, ok := fieldBySort(p, v, source)
	if !ok {
		from, err = p.pick(v, source, toFill)
	}
	if err != nil || from.node.Value == "" {
		_, clear := p.pick(v, source, toRead)
		beside := -1
		if clear != nil && !isMissing(clear) {
			beside = p.rankingOf(v, toRead).besideOneOf(source)
		}
		if beside >= 0 {
			from = v.matchOf(scored{beside, 0.8, ""}, "what stands beside its name")
		} else if from, err = p.resolve(ctx, source, toRead); err != nil {
			return err
		}
	}
	if v, err = p.look(ctx); err != nil {
		return err
	}
	at := v.find(from.ref)
	if at < 0 {
		return p.notUnderstood(describeNode(from.node) + " has gone")
	}
	text := readOf(v, at)
	if !isField(&v.Nodes[at]) {
		text = readNamed(v, at, source)
	}
	if text == "" {
		return p.notUnderstood(describeNode(from.node) + " holds nothing that could be copied")
	}
	n := &v.Nodes[at]
	keys := n.Editable && !n.Password
	if in.To == nil {
		if !keys {
			return p.notUnderstood("it does not say where the text belongs")
		}
		return chords(ctx, p, from.ref, "Control+a", "Control+c")
	}
	to, err := destination(ctx, p, in.To, from.ref)
	if err != nil {
		return err
	}
	p.focus.target = to.ref
	if keys {
		mark := p.mark()
		if err := chords(ctx, p, from.ref, "Control+a", "Control+c"); err != nil {
			return err
		}
		if err := chords(ctx, p, to.ref, "Control+a", "Control+v"); err != nil {
			return err
		}
		held, err := comesToHold(ctx, p, to.ref, text)
		if held || err != nil {
			return err
		}
		p.drop(mark, nil)
	}
	p.note("copy", fmt.Sprintf("%s is %q now, and the test types just that", describeNode(from.node), shorten(text, 100)))
	if err := p.do(ctx, action{tool: step.InputText, on: to.ref, args: step.Args{Text: &text}, why: "the text of " + describeNode(from.node) + " as it was read"}); err != nil {
		return err
	}
	if held, err := comesToHold(ctx, p, to.ref, text); held || err != nil {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": the field does not hold the text"}
}

// sourceOf returns whose text a phrase means: "the text of the first field" is what the
// first field holds.
func sourceOf(s *intent.Phrase) *intent.Phrase {
	if s != nil && s.Noun != "" && len(s.Relations) == 0 && !s.Exact {
		if name, ok := strings.CutPrefix(s.Name, "of "); ok { // "the value of Total"
			return &intent.Phrase{Text: s.Text, Name: name}
		}
	}
	if s == nil || s.Name != "" || len(s.Relations) != 1 || s.Ordinal != 0 {
		return s
	}
	if kind := s.Relations[0].Kind; kind != intent.Of && kind != intent.In {
		return s
	}
	return &s.Relations[0].Phrase
}

// heldBy returns the field whose text a phrase means, where that is not the field that
// the text goes into: "the text of the second text area".
func heldBy(p *planner, v *view, s, to *intent.Phrase) (match, bool) {
	source := sourceOf(s)
	if source == s {
		return match{}, false
	}
	m, ok := fieldBySort(p, v, source)
	if !ok {
		picked, err := p.pick(v, source, toFill)
		m, ok = picked, err == nil
	}
	if !ok || m.node.Value == "" || m.node.Password {
		return match{}, false
	}
	if to == nil {
		return m, true
	}
	into, err := p.pick(v, to, toFill)
	return m, err != nil || into.ref != m.ref
}

// fieldBySort returns the field that a phrase means by nothing but its sort and place: "the
// textarea", "the second text area", "the text input".
func fieldBySort(p *planner, v *view, s *intent.Phrase) (match, bool) {
	if s == nil || s.Name != "" || len(s.Relations) > 0 {
		return match{}, false
	}
	tag := ""
	switch squeeze(s.Noun) {
	case "textarea", "text area", "textareas", "text areas":
		tag = "textarea"
	case "textbox", "text box", "text input", "input", "text field", "field", "input field", "textfield":
		tag = "input"
	default:
		return match{}, false
	}
	fields := v.within(-1, func(n *snapshot.Node) bool {
		return !n.Hidden && n.Tag == tag && (n.Editable || n.HasValue) && n.Type != "submit" && n.Type != "button"
	})
	at := 0
	switch {
	case s.Ordinal > 0:
		at = s.Ordinal - 1
	case s.Ordinal < 0:
		at = len(fields) + s.Ordinal
	case len(fields) != 1:
		return match{}, false
	}
	if at < 0 || at >= len(fields) {
		return match{}, false
	}
	n := &v.Nodes[fields[at]]
	return match{ref: n.Ref, node: n, index: fields[at], score: 1, why: "the field of that sort and place"}, true
}

// destination returns the field that a text is copied into, which is not the one that it
// comes from.
func destination(ctx context.Context, p *planner, to *intent.Phrase, from string) (match, error) {
	v, again := p.look(ctx)
	if again != nil {
		return match{}, again
	}
	if m, ok := fieldBySort(p, v, to); ok && m.ref != from {
		return m, nil
	}
	m, err := p.resolve(ctx, to, toFill)
	if err == nil && m.ref != from {
		return m, nil
	}
	if v, again = p.look(ctx); again != nil {
		return m, again
	}
	others := v.within(-1, isTextField)
	var left []int
	for _, i := range others {
		if v.Nodes[i].Ref != from {
			left = append(left, i)
		}
	}
	if len(left) == 1 && (to.Name == "" || err == nil) {
		return match{ref: v.Nodes[left[0]].Ref, node: &v.Nodes[left[0]], index: left[0], score: 1, why: "the other field"}, nil
	}
	if err != nil {
		return m, err
	}
	return m, p.notUnderstood("what is copied and where to are the same")
}

// chords presses keys, the first one in an element.
func chords(ctx context.Context, p *planner, ref string, keys ...string) error {
	for _, key := range keys {
		if err := p.do(ctx, action{tool: step.PressKey, on: ref, args: step.Args{Key: key}, why: "copies with the keys"}); err != nil {
			return err
		}
		ref = "" // it has the focus
	}
	return nil
}

// comesToHold reports whether a field comes to hold a text.
func comesToHold(ctx context.Context, p *planner, ref, text string) (bool, error) {
	_, ok, err := p.until(ctx, settle/3, func(v *view) bool {
		i := v.find(ref)
		return i >= 0 && foldText(readOf(v, i)) == foldText(text)
	})
	return ok, err
}
