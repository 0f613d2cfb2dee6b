package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// choose chooses targets as options of fields, or what is called so.
func (p *planner) choose(ctx context.Context, g *intent.Goal) error {
	g, err := p.leaveOut(ctx, g)
	if err != nil {
		return err
	}
	options := optionFields(g)
	if told := len(options) == 0 && len(g.Target) > 0; told && len(g.Fields) > 0 { // what is chosen is no value
		thing, rest := *g, *g
		thing.Fields, rest.Target = nil, nil
		if err := p.chosen(ctx, &thing); err != nil {
			return err
		}
		g = &rest
	}
	f := newForm(append(options, g.Fields...))
	if len(f.fields) == 0 {
		return p.chosen(ctx, g)
	}
	f.offers = true
	within := p.anywhere
	if g.From != nil {
		within = p.fromNode(g.From, within)
	}
	mark := p.mark()
	if err := p.fill(ctx, f, within); err != nil {
		return err
	}
	if f.complete() {
		p.useChosen(g)
		return nil
	}
	if f.filled == 0 && len(g.Fields) == 0 {
		p.drop(mark)
		if done, err := p.ofMenu(ctx, g); err != nil || done {
			return err
		}
		if err := p.chosen(ctx, g); err != nil {
			return err
		}
		if g.From != nil && len(g.From.Words) == 0 { // "from the suggestions": where it was seen
			p.useSpan(g.From.Span, "what it was chosen from")
		}
		return nil
	}
	if err := p.further(ctx, g, f); err != nil {
		return err
	}
	p.useChosen(g)
	return nil
}

// ofMenu presses what a goal chooses in a menu, which may be closed: an entry of it, and no thing of a list. False
// where there is none.
func (p *planner) ofMenu(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) != 1 {
		return false, nil
	}
	d := g.Target[0]
	menu := slices.IndexFunc([]*intent.Description{g.From, g.To, d.In}, func(in *intent.Description) bool {
		return in != nil && !tells(in) && (in.Kind == intent.Menu || in.Kind == intent.List)
	})
	if menu < 0 {
		return false, nil
	}
	in := []*intent.Description{g.From, g.To, d.In}[menu]
	d.In = nil
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	w := p.want(m, find.Control, find.Option)
	w.Hidden = true
	f := find.Description(m, &d, w)
	entries := slices.DeleteFunc(slices.Clone(f.Candidates), func(c find.Candidate) bool {
		return c.Node < 0 || m.RecordAt(c.Node) >= 0 || !inMenu(m, c.Node) || !p.namedByMenu(m, &c)
	})
	if len(entries) == 0 && len(f.Candidates) > 0 && p.outside(m, &d, &f.Candidates[0]) {
		return false, p.say(fmt.Sprintf("%q stands in no menu or list", p.words(d.Span)))
	}
	if len(entries) == 0 || len(entries) > 1 && entries[0].Score-entries[1].Score < find.Margin {
		return false, nil
	}
	entry, mark := entries[0], p.mark()
	if a, ok := method.Unhide(m, entry.Node); ok {
		now, err := p.step(ctx, &method.Way{Name: "opens " + method.DescribeNode(m, a.Node), Acts: []method.Act{a}})
		if err != nil || now == nil {
			return false, err
		}
		if entry, ok = p.mapped(m, now, &entry); !ok {
			return false, p.say("the entry of the menu is not seen any more")
		}
	}
	p.use(entry.Used...)
	press := *g
	press.Effect, press.Target, press.From, press.To = intent.Press, []intent.Description{d}, nil, nil
	if err := p.once(ctx, &press, []find.Candidate{entry}); err != nil {
		if isNotUnderstood(err) && p.mark() > mark {
			return false, cmp.Or(p.back(ctx, mark, m), err)
		}
		return false, err
	}
	p.useChosen(g)
	p.useSpan(in.Span, "the menu")
	return true, nil
}

// inMenu reports whether a node stands in a menu or list, or is seen only once something is opened.
func inMenu(m *page.Model, node int) bool {
	if _, ok := method.Unhide(m, node); ok {
		return true
	}
	for i := node; i >= 0; i = m.Nodes[i].Parent {
		if slices.Contains([]string{"menu", "menubar", "menuitem", "listbox", "list", "option"}, m.Nodes[i].Role) {
			return true
		}
		if k := slices.IndexFunc(m.Containers, func(c page.Container) bool { return c.Node == i }); k >= 0 &&
			(m.Containers[k].Kind == "menu" || m.Containers[k].Kind == "list") {
			return true
		}
	}
	return false
}

// outside reports whether all that has the name of what is chosen in a menu or list is a button that stands in none, nor
// in a row of such ones.
func (p *planner) outside(m *page.Model, d *intent.Description, c *find.Candidate) bool {
	if c.What != find.Control || c.Node < 0 || len(c.Missing) > 0 || m.Front >= 0 || m.RecordAt(c.Node) >= 0 || inMenu(m, c.Node) {
		return false
	}
	row := 0
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Parent == m.Nodes[c.Node].Parent && n.Role == m.Nodes[c.Node].Role && !n.Hidden {
			row++
		}
	}
	record := find.Description(m, d, p.want(m, find.Record))
	return row < leastRow && !record.Clear()
}

// leastRow is how many buttons beside each other are a list of them.
const leastRow = 3

// namedByMenu reports whether a candidate has all words of its description, or what opens its menu has the rest:
// "the Cork office" is the entry Cork of the menu Office.
func (p *planner) namedByMenu(m *page.Model, c *find.Candidate) bool {
	if len(c.Missing) == 0 {
		return c.Score >= find.Enough
	}
	a, ok := method.Unhide(m, c.Node)
	return ok && len(c.Used) > 0 && !slices.ContainsFunc(c.Missing, func(s intent.Span) bool {
		return !strings.EqualFold(m.Nodes[a.Node].Name, p.words(s))
	})
}

func (p *planner) useChosen(g *intent.Goal) {
	for i := range g.Target {
		p.useSpan(g.Target[i].Span, "chosen")
		p.useSpan(g.Target[i].NounSpan, "chosen")
	}
	if g.From != nil {
		p.useSpan(g.From.Span, "the field")
	}
}

// optionFields are the targets of a goal as values: what is chosen. A target that is told by
// more than its words is none.
func optionFields(g *intent.Goal) []intent.Field {
	var list []intent.Field
	for i := range g.Target {
		d := &g.Target[i]
		if len(d.Words) == 0 || d.Ordinal != 0 || d.Extreme != nil || d.All || d.Pronoun || d.Of != nil || len(d.Compare) > 0 ||
			len(d.Having) > 0 || len(d.Relation)+len(d.State)+len(d.Lacking) > 0 || d.Other {
			return nil
		}
		v := d.Value()
		if d.Count > 1 && g.From == nil { // "4 courses": a field of that name
			n, name := float64(d.Count), *d
			name.Count = 0
			list = append(list, intent.Field{Name: &name, Span: d.Span,
				Value: intent.Value{Span: intent.Span{From: d.Span.From, To: v.Span.From}, Text: method.NumberText(n), Number: &n}})
			continue
		}
		for k := range d.Also {
			v.Also = append(v.Also, intent.Value{Span: d.Also[k].Span, Text: d.Also[k].Phrase(), Quoted: d.Also[k].Quoted})
		}
		list = append(list, intent.Field{Name: g.From, Span: d.Span, Value: v})
	}
	return list
}

// fromNode narrows a form to what a description names, where that is a container.
func (p *planner) fromNode(d *intent.Description, otherwise func(m *page.Model) int) func(m *page.Model) int {
	return func(m *page.Model) int {
		f := find.Description(m, d, find.Want{Kinds: []find.What{find.Container, find.Record}, Lang: p.text.Lang, Within: -1})
		if f.Clear() && !f.Plural {
			p.use(f.Candidates[0].Used...)
			return f.Candidates[0].Node
		}
		return otherwise(m)
	}
}

// toggle sets switches and boxes.
func (p *planner) toggle(ctx context.Context, g *intent.Goal) error {
	if len(g.Fields) == 0 {
		return p.deed(ctx, g)
	}
	for i := range g.Target { // "turn on A, leave B": further ones are fields
		if err := p.eachTarget(ctx, &intent.Goal{Span: g.Span, Effect: g.Effect, Verb: g.Verb, Lemma: g.Lemma,
			Target: g.Target[i : i+1], On: g.On},
			func(ctx context.Context, c find.Candidate) error { return p.once(ctx, g, []find.Candidate{c}) }); err != nil {
			return err
		}
	}
	f := newForm(g.Fields)
	if err := p.fill(ctx, f, p.anywhere); err != nil {
		return err
	}
	if f.complete() {
		return nil
	}
	return p.further(ctx, g, f)
}

// filter narrows a list, and remembers what is left in it: "show the open ones and close the second of
// them".
func (p *planner) filter(ctx context.Context, g *intent.Goal) error {
	if err := p.filterBy(ctx, g); err != nil {
		return err
	}
	if p.model == nil || p.model.Dialog != nil || len(g.Target) != 1 {
		return nil
	}
	d := &g.Target[0]
	all := intent.Description{Span: d.NounSpan, Noun: d.Noun, NounSpan: d.NounSpan, Kind: d.Kind, All: true, Pronoun: d.Noun == ""}
	w := p.want(p.model, find.Record)
	w.Among, w.Except = nil, nil
	if f := find.Description(p.model, &all, w); f.Plural && len(f.Missing) == 0 {
		p.remember(p.model, f.Candidates)
	}
	return nil
}

// filterBy narrows a list by options, chips and boxes that are called so, by fields.
func (p *planner) filterBy(ctx context.Context, g *intent.Goal) error {
	fields := append([]intent.Field{}, g.Fields...)
	for i := range g.Target {
		fields = append(fields, comparedFields(&g.Target[i])...)
	}
	whole := newForm(append(p.narrowing(g), fields...))
	if len(whole.fields) > 0 {
		start, err := p.look(ctx)
		if err != nil {
			return err
		}
		mark := p.mark()
		if err := p.fill(ctx, whole, p.anywhere); err != nil {
			return err
		}
		if whole.complete() {
			p.useChosen(g)
			return nil
		}
		if whole.filled > 0 {
			if err := p.further(ctx, g, whole); err == nil {
				p.useChosen(g)
				return nil
			}
		}
		if err := p.back(ctx, mark, start); err != nil {
			return err
		}
	}
	f := newForm(fields)
	if err := p.fillAll(ctx, f); err != nil {
		return err
	}
	for i := range g.Target {
		one := *g
		one.Target = g.Target[i : i+1]
		if len(g.Target[i].Words) == 0 && len(g.Target[i].State) == 0 && len(g.Target[i].Having) == 0 && g.Target[i].In == nil &&
			len(fields) > 0 {
			continue
		}
		a := &attempt{goal: &one}
		if _, err := p.achieve(ctx, a); err != nil {
			return err
		}
	}
	p.useChosen(g)
	return nil
}

// narrowing are what the targets of a filter are told by, as values: their words, states, what
// they have and where they are.
func (p *planner) narrowing(g *intent.Goal) []intent.Field {
	var list []intent.Field
	add := func(s intent.Span, text string) {
		if text != "" {
			list = append(list, intent.Field{Span: s, Value: intent.Value{Span: s, Text: text}})
		}
	}
	for i := range g.Target {
		d := &g.Target[i]
		words, of := *d, p.ofList(d)
		if of != nil {
			words.Words = of
		}
		if of != nil || len(d.Words) > 0 && !p.listed(d) {
			v := words.Value()
			add(v.Span, v.Text)
		}
		for _, s := range d.State {
			add(s.Span, p.words(s.Span))
		}
		for k := range d.Having {
			add(d.Having[k].Span, phraseOf(p, &d.Having[k]))
		}
		if d.In != nil {
			add(d.In.Span, phraseOf(p, d.In))
		}
		if d.Of != nil {
			add(d.Of.Span, phraseOf(p, d.Of))
		}
	}
	return list
}

// listed reports whether the words of a description only say what a list of the page is of, where
// something else is said that narrows it: "vans from 60 euros" on a page of vans.
func (p *planner) listed(d *intent.Description) bool {
	if !sided(d) && d.In == nil || p.model == nil || d.Quoted {
		return false
	}
	all := intent.Description{Span: d.Span, Words: d.Words, All: true}
	f := find.Description(p.model, &all, p.want(p.model, find.Record))
	if len(f.Candidates) < 2 || len(f.Missing)+len(f.Assumed) > 0 {
		return false
	}
	if !wholeList(p.model, f.Candidates) {
		return false // some of them are called so: that narrows
	}
	p.use(f.Candidates[0].Used...)
	return true
}

// wholeList reports whether records are all of one list.
func wholeList(m *page.Model, list []find.Candidate) bool {
	group := -1
	for _, c := range list {
		if g := m.Records[c.Index].Group; group >= 0 && g != group || g < 0 {
			return false
		} else if group = g; len(m.Groups[g].Records) != len(list) {
			return false
		}
	}
	return true
}

// phraseOf is a description as it stands, without what says where.
func phraseOf(p *planner, d *intent.Description) string {
	if d.Ordinal != 0 || d.Noun != "" {
		return p.words(d.Span)
	}
	return d.Phrase()
}

// comparedFields are the bounds of a description as values of fields of a range: "from 60 to 90
// euros", "at least seven seats".
func comparedFields(d *intent.Description) []intent.Field {
	var list []intent.Field
	for i := range d.Compare {
		c := &d.Compare[i]
		prep := map[string]string{"<": "to", "<=": "to", ">": "from", ">=": "from", "=": "", "between": "from"}[c.Op]
		list = append(list, intent.Field{Name: c.Measure, Prep: prep, Value: c.Value, Span: c.Span})
		if c.Upper != nil {
			list = append(list, intent.Field{Name: c.Measure, Prep: "to", Value: *c.Upper, Span: c.Span})
		}
	}
	return list
}

// search types into the field of a search, and presses Enter or its button where nothing
// happens.
func (p *planner) search(ctx context.Context, g *intent.Goal) error {
	if p.spotted(g) {
		return nil
	}
	text := g.Text
	if text == nil && len(g.Target) > 0 {
		d := &g.Target[0]
		text = &intent.Value{Span: d.Span, Text: d.Phrase()}
	}
	if text == nil {
		return p.say("it does not say what to search for")
	}
	a := &attempt{goal: g}
	a.options = func(t *method.Task) []method.Way { return method.Search(t, text.Text) }
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State != effect.Reached {
		if found, err := p.foundBySight(ctx, g); err != nil || found {
			return err
		}
		return p.failed(a, v)
	}
	p.useSpan(text.Span, "searched for")
	p.searched(g, text)
	for _, d := range []*intent.Description{g.To, g.From} {
		if d != nil {
			p.useSpan(d.Span, "where it is searched")
		}
	}
	for i := range g.Target {
		p.useSpan(g.Target[i].Span, "searched for")
	}
	return nil
}

// searched remembers the only thing that a search has left and that is called so ("find Bo and delete
// him"), else all that it has left: "search for support and invite the youngest of them".
func (p *planner) searched(g *intent.Goal, text *intent.Value) {
	d := intent.Description{Span: text.Span, Quoted: text.Quoted, Words: []intent.Word{{Span: text.Span, Text: text.Text}}}
	if len(g.Target) > 0 {
		d = g.Target[0]
	}
	if p.model == nil || p.model.Dialog != nil {
		return
	}
	if f := find.Description(p.model, &d, p.want(p.model, find.Record)); f.Clear() && !f.Plural && len(f.Assumed) == 0 {
		p.remember(p.model, f.Candidates[:1])
		return
	}
	p.remember(p.model, p.leftOf())
}

// leftOf returns the things that are left of the one list of which the present goal took others away; nil
// where it narrowed none, or more than one.
func (p *planner) leftOf() []find.Candidate {
	if p.before == nil || p.before.Dialog != nil {
		return nil
	}
	c, group := effect.Between(p.before, p.model), -1
	for _, r := range c.Removed {
		was := p.before.Records[r].Group
		if was < 0 || len(p.before.Groups[was].Records) < 2 || p.before.Records[r].Parent >= 0 {
			continue
		}
		if now := c.Group(was); now < 0 || group >= 0 && group != now {
			return nil
		} else {
			group = now
		}
	}
	if group < 0 {
		return nil
	}
	var list []find.Candidate
	for _, r := range p.model.Groups[group].Records {
		if node := p.model.Records[r].Node; !p.model.Nodes[node].Hidden {
			list = append(list, find.Candidate{What: find.Record, Index: r, Node: node, Sub: -1, Score: 1})
		}
	}
	return list
}

// foundBySight looks for what a goal searches on the page itself and its further parts, where the
// page has no search: "find Bo in the results".
func (p *planner) foundBySight(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) != 1 {
		return false, nil
	}
	found, err := p.resolve(ctx, &g.Target[0], [][]find.What{{find.Record}, {find.Control, find.Option}, {find.Line, find.Attribute}})
	if isNotUnderstood(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	p.remember(m, found)
	for _, d := range []*intent.Description{g.To, g.From} {
		if d != nil && (d.Kind == intent.Item || d.Kind == intent.List || d.Kind == intent.PageKind) {
			p.useSpan(d.Span, "where it was seen")
		}
	}
	return true, nil
}
