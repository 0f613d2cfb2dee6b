package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// activator does what a verb says to a thing: "delete the mail from Ann", "like the second
// post", "add two lamps to the cart". The control of the verb is looked for in the thing
// itself, then on the page where the thing is open or selected, then on the page that
// the thing opens.
type activator struct {
	*planner
	in *intent.Instruction
}

func activate(ctx context.Context, p *planner, in *intent.Instruction) error {
	for _, one := range eachOf(in) {
		if err := (activator{p, one}).run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a activator) run(ctx context.Context) error {
	in := a.in
	if in.Verb == "search" || in.Verb == "suchen" {
		return a.search(ctx)
	}
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	if done, err := a.asNewItem(ctx, v); done || err != nil {
		return err
	}
	m, err := a.control(ctx)
	if isNotUnderstood(err) && in.Target != nil && len(in.Target.Relations) == 1 && in.Target.Relations[0].Kind == intent.Of {
		// "the mail from Ann": nothing is called mail, but something is from Ann.
		of := in.Target.Relations[0].Phrase
		reduced := *in
		reduced.Target = &of
		b := activator{a.planner, &reduced}
		if other, again := b.control(ctx); again == nil {
			a, m, err = b, other, nil
		}
	}
	if err != nil {
		return err
	}
	if count := a.quantity(); count > 1 {
		return a.several(ctx, m, count)
	}
	if len(in.Values) > 0 {
		if v, err = a.look(ctx); err != nil {
			return err
		}
		if field := fieldBefore(v, v.find(m.ref)); field >= 0 && in.To == nil { // a box with its button
			if err := a.enter(ctx, v.Nodes[field].Ref, in.Values[0].Text, "the text"); err != nil {
				return err
			}
			return a.press1(ctx, m)
		}
	}
	if err := a.press1(ctx, m); err != nil {
		return err
	}
	if err := a.confirm(ctx, v); err != nil {
		return err
	}
	return a.complete(ctx, v)
}

// press1 clicks on the control of the verb, and looks that something happened.
func (a activator) press1(ctx context.Context, m match) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	a.focus.target = m.ref
	if err := a.do(ctx, action{tool: step.Click, on: m.ref, why: m.why}); err != nil {
		return err
	}
	return a.changedSince(ctx, v, m.node)
}

// names returns what the control of the verb may be called, with the thing and where it
// goes: "delete account", "add to cart", "delete".
func (a activator) names() []string {
	var names []string
	if t := a.in.Target; t != nil && t.Name != "" {
		names = append(names, a.in.Verb+" "+t.Name)
	}
	if t := a.in.Target; t != nil && t.Noun != "" {
		names = append(names, a.in.Verb+" "+t.Noun)
	}
	if to := a.in.To; to != nil {
		for _, place := range []string{to.Name, to.Noun} {
			if place != "" {
				names = append(names, a.in.Verb+" to "+place, a.in.Verb+" "+place)
				if a.in.Lang == "de" && slices.Contains(addVerbs, a.in.Verb) {
					names = append(names, "in den "+place)
				}
			}
		}
	}
	if to := a.in.To; to != nil && a.in.Verb == "mark" && to.Name != "" {
		names = append(names, "mark as "+to.Name, to.Name)
	}
	return append(names, a.in.Verb)
}

// control returns the control of the verb for the thing.
func (a activator) control(ctx context.Context) (match, error) {
	v, err := a.look(ctx)
	if err != nil {
		return match{}, err
	}
	t := a.in.Target
	whole := t != nil && t.Name != "" && len(t.Relations) == 0 && t.Ordinal == 0 && !t.All
	if whole { // a button that is called just so
		for _, name := range a.names()[:1] {
			if m, err := a.pick(v, &intent.Phrase{Text: name, Name: name, Exact: true}, toUse); err == nil && m.node.Interactive && m.score >= 0.8 {
				return m, nil
			}
		}
	}
	if t == nil || t.Pronoun || len(t.Relations) == 0 && t.Ordinal == 0 && t.Extreme == nil && (t.Name == "" || foldText(t.Name) == foldText(t.Noun)) {
		return a.ofLast(ctx, v)
	}
	if m, ok := a.inItem(v); ok {
		return m, nil
	}
	item, err := a.resolve(ctx, t, toFind)
	if err != nil {
		if m, again := a.onPageWhole(v); again == nil {
			return m, nil
		}
		return match{}, err
	}
	if v, err = a.look(ctx); err != nil {
		return match{}, err
	}
	if m, ok := a.inItem(v); ok { // it had to be looked for
		return m, nil
	}
	if m, ok := a.hovered(ctx, v, item); ok {
		return m, nil
	}
	if a.isOpen(v, v.find(item.ref)) {
		return a.onPage(ctx)
	}
	return a.afterOpening(ctx, v, item)
}

// ofLast finds the control of what the text was about last: in its item, on the page, or on
// what the item opens.
func (a activator) ofLast(ctx context.Context, v *view) (match, error) {
	at := v.find(a.focus.target)
	for up := at; up >= 0; up = v.Nodes[up].Parent {
		if !isItem(&v.Nodes[up]) {
			continue
		}
		for _, name := range a.names() {
			found := slices.DeleteFunc(v.within(up, isPressable), func(i int) bool { return !hasAny(arrowWords(&v.Nodes[i], ""), strings.Fields(name)) })
			if len(found) == 1 {
				n := &v.Nodes[found[0]]
				return match{ref: n.Ref, node: n, index: found[0], score: 1, why: describeNode(n) + " of what the text was about"}, nil
			}
		}
		break
	}
	for _, name := range a.names() {
		m, err := a.pick(v, &intent.Phrase{Text: name, Name: name}, toUse)
		if usable(m, err) {
			return m, nil
		}
	}
	if at >= 0 && (pressable(&v.Nodes[at]) || v.around(at, "listitem", "row", "article") >= 0) && a.in.Target != nil {
		n := &v.Nodes[at]
		return a.afterOpening(ctx, v, match{ref: n.Ref, node: n, index: at, score: 1, why: describeNode(n)})
	}
	return a.onPage(ctx)
}

// inItem finds the control in the thing.
func (a activator) inItem(v *view) (match, bool) {
	for _, name := range a.names()[1:] {
		for _, kind := range []intent.RelationKind{intent.Of, intent.In} {
			phrase := intent.Phrase{Text: name, Name: name, Relations: []intent.Relation{{Kind: kind, Phrase: *a.in.Target}}}
			if m, err := a.pick(v, &phrase, toUse); err == nil && pressable(m.node) {
				return m, true
			}
		}
	}
	return match{}, false
}

// usable reports whether an element was found that can be pressed.
func usable(m match, err error) bool { return err == nil && pressable(m.node) }

func pressable(n *snapshot.Node) bool {
	return !n.Disabled && !n.Editable && (n.Interactive || n.Reacts != "")
}

// onPage finds the control anywhere: the thing is open, or there is only one.
func (a activator) onPage(ctx context.Context) (match, error) {
	var last error
	v, err := a.look(ctx)
	if err != nil {
		return match{}, err
	}
	names := a.names()
	for _, name := range names {
		m, err := a.pick(v, &intent.Phrase{Text: name, Name: name}, toUse)
		if usable(m, err) {
			return m, nil
		}
		last = err
	}
	if last == nil || len(names) > 0 {
		m, err := a.resolve(ctx, &intent.Phrase{Text: a.in.Verb, Name: a.in.Verb}, toUse)
		if err != nil || pressable(m.node) {
			return m, err
		}
		return m, a.notUnderstood("nothing is there to " + a.in.Verb + " it with")
	}
	return match{}, last
}

// onPageWhole finds a control that is called as verb and thing together.
func (a activator) onPageWhole(v *view) (match, error) {
	names := a.names()
	m, err := a.pick(v, &intent.Phrase{Text: names[0], Name: names[0]}, toUse)
	if err != nil || pressable(m.node) && m.score >= 0.8 {
		return m, err
	}
	return m, a.notUnderstood("nothing is called so")
}

// hovered points at the thing, whose controls may only come then.
func (a activator) hovered(ctx context.Context, v *view, item match) (match, bool) {
	if i := v.find(item.ref); i < 0 || v.Nodes[i].Role == "row" && v.Nodes[i].Box[3] == 0 {
		return match{}, false
	}
	mark := a.mark()
	record, err := a.try(ctx, action{tool: step.Hover, on: item.ref, why: "its controls come when it is pointed at"})
	if err != nil || !record.Result.Success {
		return match{}, false
	}
	now, err := a.look(ctx)
	if err == nil && differs(v, now) {
		if m, ok := a.inItem(now); ok {
			return m, true
		}
	}
	a.drop(mark, nil)
	return match{}, false
}

// isOpen reports whether a thing is what the page shows or has selected: it is selected or
// checked, or a heading names it.
func (a activator) isOpen(v *view, i int) bool {
	if i < 0 {
		return false
	}
	for at := i; at >= 0; at = v.Nodes[at].Parent {
		n := &v.Nodes[at]
		if n.Selected == "true" || n.Checked == "true" {
			return true
		}
		if isItem(n) {
			for _, box := range v.within(at, func(n *snapshot.Node) bool { return n.Checked == "true" }) {
				return box >= 0
			}
			return false
		}
	}
	return v.Nodes[i].Role == "heading"
}

// afterOpening opens the thing by a click, and finds the control on what that shows.
func (a activator) afterOpening(ctx context.Context, v *view, item match) (match, error) {
	opens, err := a.pick(v, a.in.Target, toUse)
	if err != nil {
		opens = item
	}
	if slices.Contains(viewVerbs, a.in.Verb) {
		return opens, nil
	}
	mark := a.mark()
	if err := a.do(ctx, action{tool: step.Click, on: opens.ref, why: opens.why + ", which has to be opened first"}); err != nil {
		return match{}, err
	}
	a.focus.target = opens.ref
	now, changed, err := a.until(ctx, settle, func(now *view) bool { return differs(v, now) })
	if err != nil {
		return match{}, err
	}
	if changed {
		var found match
		_, ok, err := a.until(ctx, settle, func(now *view) bool {
			for _, name := range a.names() {
				m, err := a.pick(now, &intent.Phrase{Text: name, Name: name}, toUse)
				if usable(m, err) {
					found = m
					return true
				}
			}
			return false
		})
		if ok || err != nil {
			return found, err
		}
	}
	a.drop(mark, nil)
	return match{}, a.notUnderstood("neither "+describeNode(item.node)+" nor what it opens has anything to "+a.in.Verb+" it with", buttonsOf(now, -1)...)
}

// viewVerbs are verbs that a click on the thing itself does.
var viewVerbs = []string{"show", "view", "read", "open", "display", "play", "see", "anzeigen", "lesen", "ansehen"}

// confirm answers the question whether it shall really be done, unless the intent says
// itself what to do then.
func (a activator) confirm(ctx context.Context, before *view) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	if a.speaksOf([]string{"confirm", "dialog", "alert", "popup", "accept", "cancel", "bestätig", "abbrech"}) {
		return nil
	}
	if v.Dialog != nil {
		return a.do(ctx, action{tool: step.HandleDialog, args: step.Args{Action: "accept"}, why: "it asks whether that shall be done"})
	}
	open := v.openDialog()
	if open < 0 || before.find(v.Nodes[open].Ref) >= 0 && !before.Nodes[before.find(v.Nodes[open].Ref)].Hidden || len(v.within(open, isTextField)) > 0 {
		return nil
	}
	buttons := v.within(open, isPressable)
	if len(buttons) > 4 {
		return nil
	}
	yes := append([]string{squeeze(a.in.Verb)}, "yes", "ok", "confirm", "continue", "ja", "bestätigen", "weiter")
	for _, word := range yes {
		found := v.calledOneOf(buttons, []string{word})
		if len(found) != 1 {
			if i := beginningWith(v, buttons, []string{word}); i >= 0 {
				found = []int{i}
			}
		}
		if len(found) == 1 && !a.speaksOf([]string{squeeze(v.Nodes[found[0]].Name)}) {
			return a.clickAndSee(ctx, v, &v.Nodes[found[0]], "it asks whether that shall be done")
		}
	}
	return nil
}

// speaksOf reports whether another clause of the intent has one of some words.
func (p *planner) speaksOf(words []string) bool {
	after := false
	for _, c := range p.cfg.Clauses {
		if c.Text == p.clause.Text {
			after = true
			continue
		}
		text := squeeze(c.Text)
		if after && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			return true
		}
	}
	return false
}
