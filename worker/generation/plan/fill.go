package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// form is the values that a goal puts into fields, with what is done of them.
type form struct {
	fields []intent.Field
	done   []bool
	// filled counts what was done on the page, and was not so already.
	filled int
	// taken are the refs of the fields that hold a value of the form: a second one would undo it.
	taken map[string]bool
	// offers: what fields suggest for a value is chosen.
	offers bool
}

func newForm(fields []intent.Field) *form {
	var list []intent.Field
	for _, f := range fields {
		list = append(list, f)
		if d := f.Value.Date; d != nil && d.Day > 0 && d.Hour >= 0 {
			day, hour := *d, intent.Date{Hour: d.Hour, Minute: d.Minute, Weekday: -1}
			day.Hour, day.Minute = -1, -1
			list[len(list)-1].Value.Date = &day
			hourField := f
			hourField.Name, hourField.Prep = nil, "at"
			hourField.Value.Date, hourField.Value.Number = &hour, nil
			hourField.Value.Text = fmt.Sprintf("%02d:%02d", d.Hour, max(d.Minute, 0))
			list = append(list, hourField)
		}
	}
	return &form{fields: list, done: make([]bool, len(list))}
}

// left returns the fields that are not done, with their places.
func (f *form) left() (list []intent.Field, at []int) {
	for i := range f.fields {
		if !f.done[i] {
			list, at = append(list, f.fields[i]), append(at, i)
		}
	}
	return list, at
}

func (f *form) complete() bool { return !slices.Contains(f.done, false) }

// fill puts the values of a form into the fields below a node (-1: p.anywhere), one after the
// other, as long as the page has a field for one. The page may change with each.
func (p *planner) fill(ctx context.Context, f *form, within func(m *page.Model) int) error {
	if err := p.prepareValues(ctx, f); err != nil {
		return err
	}
	if err := p.peek(ctx, f, within); err != nil {
		return err
	}
	if err := p.split(ctx, f, within); err != nil {
		return err
	}
	stuck := map[int]bool{}
	shown, read := 0, len(p.lists)
	for range 3*len(f.fields) + 2 {
		m, err := p.lookForOptions(ctx, f, within, &read)
		if err != nil {
			return err
		}
		left, at := f.left()
		left, at = without(left, at, stuck)
		if len(left) == 0 {
			return nil
		}
		w := p.wantIn(m, within(m))
		w.Taken = f.taken
		as := find.Assign(m, left, w)
		slot := firstSlot(as.Slots)
		if slot == nil {
			return nil
		}
		i := at[slot.Value]
		if stuck[i] = ofOneOfMany(m, &f.fields[i], slot, w.Within) || otherName(&f.fields[i], slot); stuck[i] {
			continue
		}
		if a, ok := method.Unhide(m, slot.To.Node); ok && !f.fields[i].Keep && shown < maxReveals*len(f.fields) {
			shown++
			now, err := p.step(ctx, &method.Way{Name: "opens " + method.DescribeNode(m, a.Node), Acts: []method.Act{a}})
			if err != nil {
				return err
			}
			if now != nil && !same(m, now) {
				continue
			}
		}
		ref := m.Nodes[m.Fields[slot.To.Index].Node].Ref
		filled := p.filled[ref]
		p.filled[ref] = filled || !f.fields[i].Keep // before it is: what is new then came with it
		ok, err := p.fillOne(ctx, m, &f.fields[i], slot)
		if err != nil {
			return err
		}
		if !ok {
			p.filled[ref] = filled
			stuck[i] = true
			continue
		}
		if f.offers && slot.To.What == find.Field && m.Fields[slot.To.Index].Kind == "text" {
			if err := p.takeOffer(ctx, m, &f.fields[i].Value); err != nil {
				return err
			}
		}
		f.done[i] = true
		f.filled++
		if now, err := p.look(ctx); err == nil {
			f.take(m, now, slot)
		}
		p.useField(&f.fields[i], slot)
	}
	return nil
}

// fillAll is fill where nothing else takes the values: that one is left is an error.
func (p *planner) fillAll(ctx context.Context, f *form) error {
	if err := p.fill(ctx, f, p.anywhere); err != nil || f.complete() {
		return err
	}
	return p.unfilled(f)
}

// otherName reports whether a field is not called as the text has it in quotes: it is another one, or
// that of another thing.
func otherName(f *intent.Field, slot *find.Slot) bool {
	return f.Name != nil && f.Name.Quoted && len(slot.Missing) > 0
}

// split has the values that the page asks for in two fields be two.
func (p *planner) split(ctx context.Context, f *form, within func(m *page.Model) int) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	w := p.wantIn(m, within(m))
	w.Taken = f.taken
	left, _ := f.left()
	parts := find.Split(m, left, w)
	var held []intent.Field
	for i := range f.fields {
		if f.done[i] {
			held = append(held, f.fields[i])
		}
	}
	f.fields, f.done = append(held, parts...), make([]bool, len(held)+len(parts))
	for i := range held {
		f.done[i] = true
	}
	return nil
}

func without(left []intent.Field, at []int, stuck map[int]bool) ([]intent.Field, []int) {
	var l []intent.Field
	var a []int
	for i := range left {
		if !stuck[at[i]] {
			l, a = append(l, left[i]), append(a, at[i])
		}
	}
	return l, a
}

func (p *planner) wantIn(m *page.Model, within int) find.Want {
	w := p.want(m)
	w.Kinds, w.Within = nil, within
	for _, ref := range p.sources {
		w.But = append(w.But, m.Index().ByRef(ref))
	}
	return w
}

// assigned returns where on a page some values go; false where one of them goes nowhere below a node, or as well
// into another field.
func (p *planner) assigned(m *page.Model, fields []intent.Field, within int) ([]find.Slot, bool) {
	as := find.Assign(m, fields, p.wantIn(m, within))
	return as.Slots, len(as.Slots) == len(fields) && len(as.Missing)+len(as.Ambiguous) == 0
}

// firstSlot returns the slot whose field stands first in the document.
func firstSlot(slots []find.Slot) *find.Slot {
	if len(slots) == 0 {
		return nil
	}
	best := &slots[0]
	for i := range slots {
		if slots[i].To.Node < best.To.Node {
			best = &slots[i]
		}
	}
	return best
}

// useField marks the words of a value that a field holds now.
func (p *planner) useField(f *intent.Field, slot *find.Slot) {
	p.use(slot.To.Used...)
	p.useSpan(f.Value.Span, "the field holds it")
	if len(slot.Missing) > 0 {
		return // it holds the value, and is not called so
	}
	p.useSpan(f.Span, "the field holds it")
	if f.Name != nil {
		p.useSpan(f.Name.Span, "the field")
	}
}

// fillOne has a field hold a value, and reports whether it does.
func (p *planner) fillOne(ctx context.Context, m *page.Model, f *intent.Field, slot *find.Slot) (bool, error) {
	c := slot.To
	if f.Keep {
		p.keepField(m, &c)
		return true, nil
	}
	value := f.Value
	switch {
	case slot.Label != "" && c.What != find.Option:
		value.Text = slot.Label
	case slot.Text != "" && slot.Text != value.Text: // "phone 390" without the label
		value.Text, value.Number = slot.Text, nil
		if n := token.Values(slot.Text); len(n) > 0 {
			value.Number = &n[0]
		}
	}
	off := f.Off
	if !fits(m, &c, f) || p.narrows(m, &c, f) || p.offersNothing(m, slot, f) {
		return false, nil
	}
	off = off || c.What == find.Field && m.Fields[c.Index].Kind == "switch" && method.SaysNo(value.Text)
	if !m.Nodes[c.Node].Password && method.Holds(m, &c, &value, off) { // what a field for passwords holds is never seen
		return true, nil
	}
	names := append([]intent.Value{value}, value.Also...)
	if kind := m.Fields[c.Index].Kind; kind == "choice" || kind == "choices" { // "Schweiz (Switzerland)": the page has the other one
		names = append(slices.Clone(value.Also), value)
	}
	for i := range names {
		if ok, err := p.fillField(ctx, &c, &names[i], off); err != nil || ok {
			p.useSpan(names[i].Span, "the field holds it")
			return ok, err
		}
	}
	return false, nil
}

// fits reports whether a field can hold a value at all: a switch holds yes or no.
func fits(m *page.Model, c *find.Candidate, f *intent.Field) bool {
	if c.What != find.Field || m.Fields[c.Index].Kind != "switch" || f.Name == nil || f.Value.Text == "" {
		return true
	}
	return method.SaysYes(f.Value.Text) || method.SaysNo(f.Value.Text)
}

// offersNothing reports whether a field only takes any text, where something is to be chosen or
// set to a word that is no name: that it is meant by nothing but that it is free is a guess.
func (p *planner) offersNothing(m *page.Model, slot *find.Slot, f *intent.Field) bool {
	if p.goal == nil || f.Name != nil || slot.To.What != find.Field || slot.Label != "" {
		return false
	}
	v := &f.Value
	kind := m.Fields[slot.To.Index].Kind
	typed := (kind == "text" || kind == "editor") && slot.Text == v.Text
	if typed && m.Fields[slot.To.Index].InPlace { // a cell holds something already: which one is to be another nothing says
		return true
	}
	switch p.goal.Effect {
	case intent.Filter:
		return typed && !method.IsSearch(m, slot.To.Index) && v.Number == nil && v.Date == nil
	case intent.Choose:
	case intent.Set, intent.Toggle:
		if v.Quoted || v.Number != nil || v.Date != nil || !p.isWord(v.Text) || strings.ContainsAny(v.Text, "@/") {
			return false
		}
	default:
		return false
	}
	return typed
}

// isWord reports whether a text begins like a word and not like a name: in German, whose nouns are
// written like names, where it is one that is known.
func (p *planner) isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) || p.text.Lang == "de" && len(lexicon.Concept(text, "de")) > 0
}

// fillField tries the ways to have a field hold a value.
func (p *planner) fillField(ctx context.Context, c *find.Candidate, v *intent.Value, off bool) (bool, error) {
	start, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	mark := p.mark()
	t := &method.Task{Model: start, Goal: p.goalFor(v), Lang: p.text.Lang, Inside: -1, Near: -1}
	if method.Unmarked(start, c) && v.Number != nil {
		return p.slide(ctx, c, *v.Number)
	}
	listed := false // it offers options, and the value is none of them: typed it may stand there and not count
	for n, w := range method.FillWays(t, c, v, off) {
		if n == maxWays || p.spent() || n > 0 && p.cfg.Explore == ExploreOff {
			break
		}
		ok, err := p.perform(ctx, &w)
		if err != nil {
			return false, err
		}
		now, err := p.look(ctx)
		if err != nil {
			return false, err
		}
		holds := ok && !(listed && w.Types()) && p.heldBy(&w, start, now, c, v, off)
		p.trace("%q by %s: done %v, holds %v", v.Text, w.Name, ok, holds)
		if holds && !p.filtered(start, now, c) {
			return true, nil
		}
		if ok && w.Reveals && !holds {
			if done, err := p.pick(ctx, start, start, now, c, v, 0); err != nil || done {
				return done, err
			}
			listed = listed || offersOptions(start, now, c)
		}
		if now.Dialog != nil {
			return false, nil
		}
		if undone, err := p.undo(ctx, mark, start); err != nil || !undone {
			return false, err
		}
	}
	if v.Saved != "" { // what was saved is not what the field takes: the text that was seen
		seen := *v
		seen.Saved = ""
		return p.fillField(ctx, c, &seen, off)
	}
	return false, nil
}

func (p *planner) goalFor(v *intent.Value) *intent.Goal {
	if p.goal != nil {
		return p.goal
	}
	return &intent.Goal{Effect: intent.Set, Span: v.Span}
}

// maxPicks bounds the presses in what a field opened: the months of a calendar.
const maxPicks = 26

// pick chooses a value in what a field opened: an option of a list, a day of a calendar.
func (p *planner) pick(ctx context.Context, start, before, now *page.Model, c *find.Candidate, v *intent.Value, depth int) (bool, error) {
	if depth == maxPicks || p.spent() || now.Dialog != nil {
		return false, nil
	}
	if v.Date != nil && v.Date.To != nil {
		return p.pickRange(ctx, start, now, c, v)
	}
	t := &method.Task{Model: now, Goal: p.goalFor(v), Lang: p.text.Lang, Inside: opened(start, now), News: newNodes(start, now), Depth: 1}
	var list []method.Way
	if v.Date != nil {
		list = method.DayWays(t, v.Date)
	}
	list = append(list, method.Offered(t, v)...)
	if len(list) == 0 {
		return false, nil
	}
	ok, err := p.perform(ctx, &list[0])
	if err != nil || !ok {
		return false, err
	}
	if list[0].Reveals {
		p.tries-- // turning a calendar is one try
	}
	then, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	if p.holdsNow(start, then, c, v, false) || !list[0].Reveals && (taken(start, then, c, v) ||
		holdsOffer(start, then, c, v, nodeShows(now, list[0].Acts[0].Node))) {
		return true, nil
	}
	if list[0].Reveals && !same(now, then) {
		return p.pick(ctx, start, now, then, c, v, depth+1)
	}
	return false, nil
}

// unfilled is the error for values that no field of the page takes.
func (p *planner) unfilled(f *form) error {
	left, _ := f.left()
	var list []string
	for i := range left {
		text := p.words(left[i].Span)
		if text == "" {
			text = left[i].Value.Text
		}
		list = append(list, fmt.Sprintf("%q", text))
	}
	return p.say("no field of the page takes " + strings.Join(list, ", "))
}
