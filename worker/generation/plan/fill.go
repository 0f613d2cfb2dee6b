package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// fill types a text into one field or several: it replaces what is there, or is typed
// behind it, or clears it.
func fill(ctx context.Context, p *planner, in *intent.Instruction) error {
	text, why, err := textOf(ctx, p, in)
	if err != nil {
		return err
	}
	fields, err := fieldsOf(ctx, p, in, text)
	if err != nil {
		return err
	}
	for _, m := range fields {
		if why != "" {
			m.why += "; " + why
		}
		if in.Kind == intent.Fill && in.Values[0].Date != nil && isDateField(m.node) {
			if err := (dateChooser{p, in}).choose(ctx, m.ref, &in.Values[0]); err != nil {
				return err
			}
			p.focus.target = m.ref
			continue
		}
		if fieldOfChoice(m.node) {
			if err := chooseInstead(ctx, p, in, m, text); err != nil {
				return err
			}
			continue
		}
		dated, err := fillDate(ctx, p, in, m)
		if !dated && err == nil {
			err = fillField(ctx, p, in, m, text)
		}
		if err != nil {
			return err
		}
		p.focus.target = m.ref
	}
	return nil
}

// textOf returns the text to type. One that stands on the page is read from it now.
func textOf(ctx context.Context, p *planner, in *intent.Instruction) (text, why string, err error) {
	if in.Kind == intent.Clear {
		return "", "", nil
	}
	if len(in.Values) == 0 {
		return "", "", p.notUnderstood("it does not say what to type")
	}
	value := in.Values[0]
	if value.From == nil {
		v, err := p.look(ctx)
		if err != nil {
			return "", "", err
		}
		if !value.Quoted && runsOn(v, value.Text) {
			return "", "", p.notUnderstood("what to type is not clear: it may be more than one text", Candidate{What: value.Text})
		}
		return value.Text, "", nil
	}
	v, err := p.look(ctx)
	if err != nil {
		return "", "", err
	}
	if cell, _ := cellNamed(v, value.From); cell >= 0 {
		return v.shown(cell), "the text is what the cell showed when the test was written", nil
	}
	if m, ok := heldBy(p, v, value.From, in.Target); ok {
		return m.node.Value, fmt.Sprintf("the text is what %s held when the test was written", describeNode(m.node)), nil
	}
	if _, err := p.pick(v, value.From, toRead); err != nil && !isMissing(err) {
		if i := p.rankingOf(v, toRead).besideOneOf(value.From); i >= 0 {
			return v.shown(i), "the text is what stood beside its name when the test was written", nil
		}
	}
	m, err := p.resolve(ctx, value.From, toRead)
	if err != nil {
		return "", "", err
	}
	if v, err = p.look(ctx); err != nil {
		return "", "", err
	}
	if i := v.find(m.ref); i >= 0 {
		text = behindColon(readNamed(v, i, value.From), value.From.Name)
	}
	if text == "" {
		return "", "", p.notUnderstood(describeNode(m.node) + " has no text")
	}
	return text, fmt.Sprintf("the text is what %s showed when the test was written", describeNode(m.node)), nil
}

// fieldsOf returns the fields that an instruction fills: those it names, else the one
// that has the focus, that was used last, that fits the text, or the only one.
func fieldsOf(ctx context.Context, p *planner, in *intent.Instruction, text string) ([]match, error) {
	if in.Target != nil && !(in.Target.Pronoun && in.Target.Name == "") {
		if !saysNoField(in.Target) {
			return p.resolveAll(ctx, in.Target, toFill)
		}
		v, err := p.look(ctx)
		if err != nil {
			return nil, err
		}
		if m, err := p.pick(v, in.Target, toFill); err == nil {
			return []match{m}, nil
		}
		if i, why := impliedField(p, v, text); i >= 0 {
			return []match{v.matchOf(scored{i, 0.8, ""}, why)}, nil
		}
		return p.resolveAll(ctx, in.Target, toFill)
	}
	var found match
	err := seek(ctx, p, nil, toFill, func(v *view) error {
		i, why := impliedField(p, v, text)
		if i < 0 {
			var list []scored
			for _, f := range v.fields() {
				list = append(list, scored{f, 0.5, "a field"})
			}
			err := p.notUnderstood(either(len(list) == 0, "there is no field", "it does not say which field"), p.candidates(v, list)...)
			if len(list) == 0 {
				return missingError{err.(*NotUnderstoodError)}
			}
			return err
		}
		found = v.matchOf(scored{i, 0.8, ""}, why)
		return nil
	})
	return []match{found}, err
}

// saysNoField reports whether a target is what a field holds, or any field: "the text".
func saysNoField(phrase *intent.Phrase) bool {
	return bare(phrase) && !phrase.All && phrase.Count < 2 && len(phrase.Others) == 0 && phrase.Extreme == nil && typeSaid(phrase.Noun) == ""
}

// impliedField returns the field that is meant when none is named; -1 when that is not
// clear.
func impliedField(p *planner, v *view, text string) (int, string) {
	fields := v.fields()
	if len(fields) == 1 {
		return fields[0], "the only field"
	}
	for _, i := range fields {
		if v.Nodes[i].Focused {
			return i, "the field that has the focus"
		}
	}
	if i := v.find(p.focus.target); p.focus.target != "" && slices.Contains(fields, i) {
		return i, "the field that was used before"
	}
	if part := p.rankingOf(v, toFill).part(); part >= 0 {
		if inside := keepInside(v, fields, part); len(inside) == 1 {
			return inside[0], "the only field beside what was used before"
		}
	}
	if strings.Contains(text, "@") && !strings.ContainsAny(text, " \n") {
		if mail := keepType(v, fields, "email"); len(mail) == 1 {
			return mail[0], "the only field for a mail address"
		}
	}
	empty := slices.DeleteFunc(slices.Clone(fields), func(i int) bool {
		return v.Nodes[i].Value != "" || v.Nodes[i].Role == "searchbox" || v.Nodes[i].Type == "search"
	})
	if len(empty) == 1 {
		return empty[0], "the only empty field"
	}
	return -1, ""
}

func keepInside(v *view, list []int, part int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !v.inside(i, part) })
}

func keepType(v *view, list []int, kind string) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return v.Nodes[i].Type != kind })
}

// fillField fills one field and looks whether it holds the text then.
func fillField(ctx context.Context, p *planner, in *intent.Instruction, m match, text string) error {
	if in.Kind != intent.Append && m.node.Value == text && m.node.HasValue && !m.node.Password && text == "" {
		p.note("clear", describeNode(m.node)+" is empty already")
	}
	a := action{tool: step.InputText, on: m.ref, args: step.Args{Text: &text}, why: m.why}
	wanted := text
	if in.Kind == intent.Append {
		if text == "" {
			return nil
		}
		a.tool = step.TypeKeys
		wanted = m.node.Value + text
	}
	mark := p.mark()
	record, err := p.try(ctx, a)
	if err != nil {
		return err
	}
	if record.Result.Success {
		holds, seen, err := p.holds(ctx, m.ref, wanted)
		if err != nil || holds {
			return err
		}
		if in.Kind == intent.Append || text == "" {
			return notHeld(p, m, wanted, seen)
		}
	}
	if a.tool == step.TypeKeys || text == "" {
		return failedOf(p, record.Result.Message)
	}
	p.drop(mark, nil)
	return typeKeys(ctx, p, m, text)
}

// typeKeys fills a field key by key, over what it holds: for those that follow keys
// only.
func typeKeys(ctx context.Context, p *planner, m match, text string) error {
	if err := p.do(ctx, action{tool: step.Click, on: m.ref, why: m.why}); err != nil {
		return err
	}
	for _, a := range []action{
		{tool: step.PressKey, on: m.ref, args: step.Args{Key: "Control+a"}, why: "replaces what the field holds"},
		{tool: step.TypeKeys, on: m.ref, args: step.Args{Text: &text}, why: "typed key by key, since the field follows keys only"},
	} {
		if err := p.do(ctx, a); err != nil {
			return err
		}
	}
	holds, seen, err := p.holds(ctx, m.ref, text)
	if err != nil || holds {
		return err
	}
	return notHeld(p, m, text, seen)
}

func failedOf(p *planner, message string) error {
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": " + message}
}

func notHeld(p *planner, m match, text, seen string) error {
	return failedOf(p, fmt.Sprintf("%s holds %q after %q was typed", describeNode(m.node), shorten(seen, 80), shorten(text, 80)))
}

// holds reports whether a field holds a text, as far as that can be seen: passwords
// and variables cannot. Fields with a mask add to what is typed, and lists of words
// take it away.
func (p *planner) holds(ctx context.Context, ref, text string) (bool, string, error) {
	v, err := p.look(ctx)
	if err != nil {
		return false, "", err
	}
	n := v.node(ref)
	if n == nil || n.Hidden || n.Password || n.Type == "password" || strings.Contains(text, "{{") || v.Dialog != nil {
		return true, "", nil
	}
	seen := n.Value
	if !n.HasValue {
		seen = v.shown(v.find(ref))
	}
	if !n.HasValue && seen == "" && n.Value == "" && n.Role != "textbox" {
		return true, "", nil // what it holds is not seen
	}
	if seen == "" && text != "" && takenOf(p, v, text) {
		return true, seen, nil
	}
	return sameEntry(seen, text), seen, nil
}

// takenOf reports whether a text that a field took away stands on the page since: a tag, or a
// message that was sent.
func takenOf(p *planner, v *view, text string) bool {
	folded := fold(strings.TrimSpace(text))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if p.before != nil && p.before.node(n.Ref) == nil && !n.Hidden && folded != "" && strings.Contains(fold(n.Name), folded) {
			return true
		}
	}
	return false
}

// longestSeen is how much of a value a snapshot has.
const longestSeen = 300

// sameEntry reports whether a field that shows one text holds another: but for case,
// and for what a mask puts between the letters and digits.
func sameEntry(seen, text string) bool {
	seen, text = strings.Join(strings.Fields(seen), " "), strings.Join(strings.Fields(text), " ")
	if seen == text {
		return true
	}
	if runes := []rune(seen); len(runes) >= longestSeen-1 {
		return strings.HasPrefix(text, strings.TrimSuffix(string(runes[:longestSeen-1]), "…"))
	}
	a, b := plainLetters(seen), plainLetters(text)
	return a == b && a != "" || sameNumber(seen, text)
}

// sameNumber compares numbers that are written with other fractions: 5 and 5.00.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, errY := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	return errX == nil && errY == nil && x == y
}

func plainLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// chooseInstead chooses in a field that takes no text.
func chooseInstead(ctx context.Context, p *planner, in *intent.Instruction, m match, text string) error {
	run := executorOf(intent.Choose)
	if run == nil || in.Kind == intent.Append || text == "" {
		return p.notUnderstood(describeNode(m.node) + " takes no text")
	}
	choice := *in
	choice.Kind = intent.Choose
	choice.Values = slices.Clone(in.Values)
	choice.Values[0].Text, choice.Values[0].From = text, nil
	return run(ctx, p, &choice)
}

// fieldOfChoice reports whether a field takes one of several values rather than a
// text: choosing is then what fills it.
func fieldOfChoice(n *snapshot.Node) bool {
	return n.Tag == "select" || !n.Editable && (n.Role == "combobox" || n.Role == "listbox")
}
