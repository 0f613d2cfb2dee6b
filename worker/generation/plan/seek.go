package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// maxSought is how many parts of a page are opened to look for one thing.
const maxSought = 10

// enter goes where a description says that the thing is: "in the new tab", "under Advanced",
// "on the second page". It returns nil where there is nowhere to go.
func (p *planner) enter(ctx context.Context, d *intent.Description, f *find.Found) (*page.Model, error) {
	in := d.In
	if in == nil && d.Of != nil {
		in = d.Of.In
	}
	if in == nil {
		return nil, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	mark := p.mark()
	if len(f.Inside) > 0 && f.Inside[0].What == find.Container && f.Inside[0].Index >= 0 && f.Inside[0].Index < len(m.Containers) {
		if c := &m.Containers[f.Inside[0].Index]; c.Hidden && c.Opener >= 0 && c.Opener < len(m.Controls) {
			return p.stepInto(ctx, m, &method.Way{Name: "opens " + c.Title, Acts: []method.Act{method.Press(m.Controls[c.Opener].Node)}})
		}
	}
	goal := &intent.Goal{Span: in.Span, Effect: intent.Open, Target: []intent.Description{*in}}
	if in.Kind == intent.PageKind && (in.Ordinal != 0 || in.Next) {
		goal = pageGoal(in)
	}
	for _, w := range p.entries(m, goal, in) {
		now, err := p.stepInto(ctx, m, &w)
		if err != nil {
			return nil, err
		}
		if now != nil && !same(m, now) {
			p.use(w.Used...)
			p.useSpan(in.Span, "opened")
			return now, nil
		}
		if ok, err := p.undo(ctx, mark, m); err != nil || !ok {
			return nil, err
		}
	}
	return nil, nil
}

// maxReveals is how many things around a hidden one are opened, from outside in.
const maxReveals = 3

// reveal opens what hides the thing that a description means, where the page has it already: a
// closed section, a tab, a menu. It returns nil where it has none.
func (p *planner) reveal(ctx context.Context, d *intent.Description, tiers [][]find.What) ([]find.Candidate, error) {
	start, err := p.look(ctx)
	if err != nil || start.Dialog != nil {
		return nil, err
	}
	mark := p.mark()
	for range maxReveals {
		m, err := p.look(ctx)
		if err != nil {
			return nil, err
		}
		a, ok := p.hidden(m, d, tiers)
		if !ok {
			break
		}
		now, err := p.step(ctx, &method.Way{Name: "opens " + method.DescribeNode(m, a.Node), Acts: []method.Act{a}})
		if err != nil || now == nil {
			break
		}
		if found, _, ok := p.resolveOn(now, d, tiers); ok {
			return found, nil
		}
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return nil, err
}

// hidden returns what shows the hidden thing that a description means, where one clearly is.
func (p *planner) hidden(m *page.Model, d *intent.Description, tiers [][]find.What) (method.Act, bool) {
	for _, kinds := range tiers {
		w := p.want(m, kinds...)
		w.Hidden = true
		f := find.Description(m, d, w)
		if !f.Clear() || f.Candidates[0].Node < 0 {
			continue
		}
		if a, ok := method.Unhide(m, f.Candidates[0].Node); ok {
			return a, true
		}
	}
	return method.Act{}, false
}

// pageGoal is the turn to a page that a description names.
func pageGoal(in *intent.Description) *intent.Goal {
	g := &intent.Goal{Span: in.Span, Effect: intent.Page}
	switch {
	case in.Next:
		g.Place = "next"
	case in.Ordinal < 0:
		g.Place = "last"
	default:
		n := float64(in.Ordinal)
		g.Amount = &intent.Value{Span: in.Span, Number: &n}
	}
	return g
}

// entries are the ways to a part of the page: only what opens a tab, section, menu or page of a
// list, by its name.
func (p *planner) entries(m *page.Model, g *intent.Goal, in *intent.Description) []method.Way {
	t := &method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1}
	if g.Effect == intent.Page {
		list := method.Ways(t)
		return list[:min(len(list), 2)]
	}
	f := find.Description(m, in, find.Want{Kinds: []find.What{find.Control}, Lang: p.text.Lang, Within: -1})
	if len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 || f.Ambiguous {
		return nil
	}
	t.Target = &f.Candidates[0]
	if !shows(m, f.Candidates[0].Index) {
		return nil
	}
	list := method.Ways(t)
	return list[:min(len(list), 1)]
}

// shows reports whether a control only shows a part of the page: a tab, a link, what expands.
func shows(m *page.Model, control int) bool {
	if control < 0 || control >= len(m.Controls) {
		return false
	}
	n := &m.Nodes[m.Controls[control].Node]
	return m.Controls[control].Role == "tab" || n.Role == "tab" || n.Role == "link" || n.Expanded != "" || n.Role == "menuitem" ||
		n.Popup != "" || n.Role == "button" && !method.Destroys(m, control)
}

// step does a way and looks; nil where it did not work.
func (p *planner) step(ctx context.Context, w *method.Way) (*page.Model, error) {
	ok, err := p.perform(ctx, w)
	if err != nil {
		return nil, err
	}
	m, err := p.look(ctx)
	if err != nil || !ok {
		return nil, err
	}
	return m, nil
}

// seek opens parts of the page one after the other until a description is found there: tabs,
// closed sections, further pages. What led nowhere is undone. It returns nil where it is found
// nowhere.
func (p *planner) seek(ctx context.Context, d *intent.Description, tiers [][]find.What) ([]find.Candidate, error) {
	if p.cfg.Explore == ExploreOff || len(d.Words) == 0 {
		return nil, nil
	}
	start, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	if start.Front >= 0 || start.Dialog != nil {
		return nil, nil
	}
	mark, tried := p.mark(), map[string]bool{}
	var opened []opening
	for range maxSought {
		m, err := p.look(ctx)
		if err != nil || p.spent() {
			return nil, err
		}
		w, ok := nextPart(m, tried)
		if !ok {
			break
		}
		if m, opened, err = p.leave(ctx, m, &w, opened); err != nil || m == nil {
			return nil, err
		}
		now, err := p.step(ctx, &w)
		if err != nil {
			return nil, err
		}
		if now == nil {
			continue
		}
		opened = append(opened, openingOf(m, w.Acts[0].Node))
		if same(m, now) { // the last page
			tried[partKey(&m.Nodes[w.Acts[0].Node])] = true
		}
		if found, _, ok := p.resolveOn(now, d, tiers); ok && !p.strayed(start, now) {
			p.prune(now, found, mark, opened)
			return found, nil
		}
	}
	if p.mark() == mark {
		return nil, nil
	}
	return nil, p.back(ctx, mark, start)
}

// opening is what was opened in a search: whether it turned a page, and the branch of a tree that it
// opened.
type opening struct {
	turns  bool
	branch string // ref; "" is none
	mark   string // ref of what opened it
}

func openingOf(m *page.Model, node int) opening {
	o := opening{turns: method.TurnsPage(m, m.ControlAt(node)), mark: m.Nodes[node].Ref}
	switch {
	case m.Nodes[node].Role == "treeitem":
		o.branch = m.Nodes[node].Ref
	case method.BranchMark(m, m.ControlAt(node)):
		o.branch = m.Nodes[m.Nodes[node].Parent].Ref
	}
	return o
}

// leave closes the branches of a tree that a search goes out of: what it opens next is found then as it
// is found in a test that never opened them. It returns the page with the way on it; nil where a
// branch cannot be closed.
func (p *planner) leave(ctx context.Context, m *page.Model, w *method.Way, opened []opening) (*page.Model, []opening, error) {
	ref := m.Nodes[w.Acts[0].Node].Ref
	for i := len(opened) - 1; i >= 0; i-- {
		o := &opened[i]
		at := m.Index().ByRef(o.branch)
		if o.branch == "" || at < 0 || m.Index().Contains(at, w.Acts[0].Node) {
			continue
		}
		mark := m.Index().ByRef(o.mark)
		if mark < 0 {
			return nil, opened, nil
		}
		now, err := p.step(ctx, &method.Way{Name: "closes " + method.DescribeNode(m, mark), Acts: []method.Act{method.Press(mark)}})
		if err != nil || now == nil || now.Index().ByRef(ref) < 0 {
			return nil, opened, err
		}
		o.branch = ""
		opened = append(opened, opening{})
		m, w.Acts = now, []method.Act{method.Press(now.Index().ByRef(ref))}
	}
	return m, opened, nil
}

// prune drops the steps of a search that led nowhere: of tabs and sections only the last one is
// needed, of pages each that was turned, of a tree the branches around what was found.
func (p *planner) prune(m *page.Model, found []find.Candidate, mark int, opened []opening) {
	needed := func(o *opening) bool {
		at := -1
		if o.branch != "" {
			at = m.Index().ByRef(o.branch)
		}
		return o.turns || at >= 0 && len(found) > 0 && m.Index().Contains(at, found[0].Node)
	}
	at := mark
	for i := mark; i < len(p.steps); i++ {
		if i == len(p.steps)-1 || i-mark < len(opened) && needed(&opened[i-mark]) {
			p.steps[at], p.why[at] = p.steps[i], p.why[i]
			at++
		}
	}
	p.drop(at)
}

// looksInto are the effects for whose sake a thing is opened that holds what they are done to.
var looksInto = map[intent.Effect]bool{intent.Edit: true, intent.Append: true, intent.Open: true}

// ofOpened opens what a description is of and looks for the rest there: "the text of the note about frost"
// stands in the editor once the note is open. The page must show that it is this thing that is open. It
// returns nil where it does not, or has no such part in it.
func (p *planner) ofOpened(ctx context.Context, d *intent.Description, tiers [][]find.What) ([]find.Candidate, error) {
	if d.Of == nil || d.Of.Pronoun || p.goal == nil || !looksInto[p.goal.Effect] || p.cfg.Explore == ExploreOff {
		return nil, nil
	}
	start, err := p.look(ctx)
	if err != nil || start.Dialog != nil || start.Front >= 0 {
		return nil, err
	}
	owner, name := ownerOf(d)
	things, _, ok := p.resolveOn(start, owner, [][]find.What{{find.Record}, {find.Control}})
	if !ok || len(things) != 1 || things[0].What == find.Control && !holdsMore(start, things[0].Index) {
		return nil, nil
	}
	mark, title := p.mark(), titleOfThing(start, &things[0])
	if !showsOpen(start, title) {
		open := &intent.Goal{Span: owner.Span, Effect: intent.Open, Target: []intent.Description{*owner}}
		if err := p.once(ctx, open, things); err != nil && !isNotUnderstood(err) {
			return nil, err
		}
	}
	now, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	if showsOpen(now, title) {
		if found, _, ok := p.resolveOn(now, name, tiers); ok && len(found) == 1 && now.RecordAt(found[0].Node) < 0 {
			return found, nil
		}
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return nil, err
}

// holdsMore reports whether a control opens the thing that it is called by, and does no deed of that name: a link, a tab,
// an entry of a tree.
func holdsMore(m *page.Model, control int) bool {
	n := &m.Nodes[m.Controls[control].Node]
	return n.Href != "" || slices.Contains([]string{"link", "tab", "treeitem"}, n.Role)
}

// titleOfThing is what a record or control is called.
func titleOfThing(m *page.Model, c *find.Candidate) string {
	if r := effect.RecordOf(m, c); r >= 0 {
		return m.Records[r].Title
	}
	return effect.ControlName(m, c.Index)
}

// showsOpen reports whether a page shows that the thing of a title is the one that is open: a heading, or a field
// of text, is it, and not another thing with a longer title.
func showsOpen(m *page.Model, title string) bool {
	if title == "" {
		return false
	}
	heads := func(text string) bool {
		return word.Contains(text, title) && !slices.ContainsFunc(m.Records, func(r page.Record) bool {
			return len(r.Title) > len(title) && strings.Contains(r.Title, title) && word.Contains(text, r.Title)
		})
	}
	return slices.ContainsFunc(m.Lines, func(l page.Line) bool {
		return l.Heading > 0 && l.Record < 0 && !m.Nodes[l.Node].Hidden && heads(l.Text)
	}) || slices.ContainsFunc(m.Fields, func(f page.Field) bool {
		return f.Kind == "text" && f.Record < 0 && !f.Hidden && isTitle(title, strings.TrimSpace(f.Value))
	})
}

// tabWords are what pages that say no role call a tab.
var tabWords = shape.Words("tab")

func partKey(n *snapshot.Node) string { return n.Ref + " " + n.Name }

// nextPart returns what to open next: what is a tab, a closed section, the next page.
func nextPart(m *page.Model, tried map[string]bool) (method.Way, bool) {
	for _, fits := range []func(i int) bool{
		func(i int) bool {
			n := &m.Nodes[m.Controls[i].Node]
			return (n.Role == "tab" || n.Href == "" && shape.ClassWord(n, tabWords)) && n.Selected != "true"
		},
		func(i int) bool {
			n := &m.Nodes[m.Controls[i].Node]
			return n.Expanded == "false" && (n.Popup == "" || n.Popup == "false") && n.Role != "combobox"
		},
		func(i int) bool { return method.BranchMark(m, i) },
		func(i int) bool { return method.TurnsPage(m, i) },
	} {
		for i := range m.Controls {
			c := &m.Controls[i]
			n := &m.Nodes[c.Node]
			key := partKey(n)
			if n.Hidden || n.Disabled || c.Hidden || tried[key] || !fits(i) || method.Destroys(m, i) {
				continue
			}
			if !method.TurnsPage(m, i) {
				tried[key] = true
			} else if len(tried) > maxSought*2 {
				continue
			}
			return method.Way{Name: "looks into " + method.DescribeNode(m, c.Node), Acts: []method.Act{method.Press(c.Node)}}, true
		}
	}
	return method.Way{}, false
}
