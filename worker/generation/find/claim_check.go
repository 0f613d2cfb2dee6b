package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// seen returns the records of a group that are seen, as they stand.
func (k *claimer) seen(group int) []int {
	var list []int
	for i := range k.m.Records {
		if r := &k.m.Records[i]; r.Group == group && !k.m.Nodes[r.Node].Hidden {
			list = append(list, i)
		}
	}
	return list
}

func (k *claimer) nodesOf(group int) []int {
	var list []int
	for _, r := range k.seen(group) {
		list = append(list, k.m.Records[r].Node)
	}
	return list
}

// countAll checks how many records a group has.
func (k *claimer) countAll(group int) {
	nodes := k.nodesOf(group)
	k.e.Checks = append(k.e.Checks, Check{Kind: "count", Node: k.m.Groups[group].Node, Group: group, Nodes: nodes, Count: len(nodes)})
}

// countOf checks how many things a description has, of which these were found: in their list where
// they are of one.
func (k *claimer) countOf(d *intent.Description, found []Candidate, nodes []int) {
	if len(nodes) == 0 {
		k.none(d)
		return
	}
	check := Check{Kind: "count", Node: k.w.Within, Group: -1, Nodes: nodes, Count: len(nodes)}
	if g := -1; found[0].What == Record {
		g = k.m.Records[found[0].Index].Group
		if !slices.ContainsFunc(found, func(c Candidate) bool { return c.What != Record || k.m.Records[c.Index].Group != g }) {
			check.Group, check.Node = g, k.m.Groups[g].Node
		}
	}
	check.Words = append(check.Words, said(d))
	for i := range d.State {
		check.Words = append(check.Words, d.State[i].Text)
	}
	for i := range d.Having {
		check.Words = append(check.Words, said(&d.Having[i]))
	}
	k.e.Checks = append(k.e.Checks, check)
}

// none checks that there is nothing of a description: what it names is not shown, or the list that
// it was in before has none.
func (k *claimer) none(d *intent.Description) {
	if len(d.Words) > 0 {
		k.e.Checks = append(k.e.Checks, Check{Kind: "hidden", Node: -1, Group: -1, Text: said(d)})
		return
	}
	g := k.listBefore(d)
	if g < 0 {
		return
	}
	check, things := k.likeBefore(g), k.before.Groups[g].Records
	switch {
	case check.Role+check.Style == "" && len(things) <= maxGone: // what its things were called is not shown
		for _, r := range things {
			k.e.Checks = append(k.e.Checks, Check{Kind: "hidden", Node: -1, Group: -1, Text: k.before.Records[r].Title})
		}
	case check.Role+check.Style != "" && check.Role != "text":
		k.e.Checks = append(k.e.Checks, check)
	}
}

// likeBefore returns a check that counts what is like the things of a list that the page had before,
// where that list stands: by their role, else by their style. It has neither where no step can tell them.
func (k *claimer) likeBefore(g int) Check {
	list, nodes := k.before.Groups[g].Node, []int{}
	for _, r := range k.before.Groups[g].Records {
		nodes = append(nodes, k.before.Records[r].Node)
	}
	check := Check{Kind: "count", Node: -1, Group: -1, Role: k.before.Nodes[nodes[0]].Role}
	if list >= 0 {
		check.Node = slices.IndexFunc(k.m.Nodes, func(n snapshot.Node) bool { return n.Ref == k.before.Nodes[list].Ref && !n.Hidden })
	}
	if check.Role == "" {
		check.Style = page.Alike(k.before, list, nodes)
	}
	return check
}

// listBefore returns the list that a description spoke of before, by its things or by what holds them
// ("nothing is left in it"); -1 without one.
func (k *claimer) listBefore(d *intent.Description) int {
	if k.before == nil {
		return -1
	}
	if !d.Pronoun {
		f := Description(k.before, d, Want{Kinds: []What{Record}, Lang: k.w.Lang, Within: -1})
		if len(f.Missing) > 0 || len(f.Candidates) == 0 {
			return -1
		}
		return k.before.Records[f.Candidates[0].Index].Group
	}
	if len(k.w.Among) != 1 || k.w.Among[0].What != Container {
		return -1
	}
	ref := k.m.Nodes[k.w.Among[0].Node].Ref
	at := slices.IndexFunc(k.before.Nodes, func(n snapshot.Node) bool { return n.Ref == ref })
	best, most := -1, 0
	for g := range k.before.Groups {
		if n := len(k.before.Groups[g].Records); at >= 0 && n > most &&
			k.before.Inside(at, k.before.Records[k.before.Groups[g].Records[0]].Node) {
			best, most = g, n
		}
	}
	return best
}

// earlier returns candidates of a page as they were on it before; those that were not there are left out.
func earlier(before, after *page.Model, list []Candidate) []Candidate {
	var was []Candidate
	for _, c := range list {
		if c.Node < 0 || c.Node >= len(after.Nodes) {
			continue
		}
		at := slices.IndexFunc(before.Nodes, func(n snapshot.Node) bool { return n.Ref == after.Nodes[c.Node].Ref })
		switch c.Node = at; {
		case at < 0:
			continue
		case c.What == Record:
			c.Index = slices.IndexFunc(before.Records, func(r page.Record) bool { return r.Node == at })
		case c.What == Attribute:
			if c.Index = before.RecordAt(at); c.Index < 0 {
				continue
			}
			c.Sub = slices.IndexFunc(before.Records[c.Index].Attributes, func(a page.Attribute) bool { return a.Node == at })
			if c.Sub < 0 {
				continue
			}
		case c.What == Field:
			c.Index = slices.IndexFunc(before.Fields, func(f page.Field) bool { return f.Node == at })
		case c.What == Control && c.Index >= 0:
			c.Index = before.ControlAt(at)
		case c.What == Container && c.Index >= 0:
			c.Index = slices.IndexFunc(before.Containers, func(k page.Container) bool { return k.Node == at })
		case c.Index >= 0 || c.Sub >= 0:
			continue // parts of what is not looked for here
		}
		if c.Index >= 0 || c.What == Control || c.What == Line {
			was = append(was, c)
		}
	}
	return was
}

// unchanged evaluates whether things are as they were before.
func unchanged(before, after *page.Model, c *intent.Claim, w Want) Evidence {
	e := Evidence{Known: true, Holds: true}
	w.Hidden = true
	bw := w
	bw.Among, bw.Except = earlier(before, after, w.Among), earlier(before, after, w.Except)
	for i := range c.Subject {
		d := &c.Subject[i]
		d = others(before, d, w)
		was, is := Description(before, d, bw), Description(after, d, w)
		if d.Other {
			was = sameBefore(before, after, d, &is, w)
		}
		if len(is.Candidates) == 0 || len(is.Missing) > 0 || len(was.Candidates) == 0 || len(was.Missing) > 0 {
			e.Known, e.Holds = false, false
			e.Missing = append(e.Missing, missingOf(&is, d)...)
			continue
		}
		for _, x := range is.Candidates {
			e.Used = append(e.Used, x.Used...)
		}
		e.Used = append(e.Used, Use{d.Span, "compared with before"})
		e.Subject = append(e.Subject, is.Candidates...)
		n := 1
		if is.Plural {
			n = len(is.Candidates)
		}
		for j := range n {
			if j >= len(was.Candidates) || is.Plural && len(was.Candidates) != n ||
				shows(before, &was.Candidates[j]) != shows(after, &is.Candidates[j]) {
				e.Holds = false
				e.Why += said(d) + " has changed; "
				if j >= len(was.Candidates) || !c.Not {
					break
				}
			}
			k := claimer{ix: indexOf(after), m: after}
			k.asNow(&is.Candidates[j])
			e.Checks = append(e.Checks, k.e.Checks...)
		}
	}
	if !c.Not {
		return e
	}
	// What it was, no step knows: what it is now shows that it changed.
	e.Holds = e.Known && !e.Holds
	if e.Holds && c.Op != "=" && c.Op != "" {
		e.Holds = stepped(before, after, c, w)
	}
	if e.Holds {
		for _, v := range c.Values {
			e.Used = append(e.Used, Use{v.Span, "by as much"})
		}
	}
	return e
}

// others takes "the other rows" for all of them where there were several before, beside those that were
// spoken of: a single one would say nothing of the rest.
func others(before *page.Model, d *intent.Description, w Want) *intent.Description {
	if !d.Other || d.All || len(d.Words)+d.Count+d.Ordinal > 0 || d.Extreme != nil {
		return d
	}
	all, every := *d, *d
	all.All, every.All, every.Other = true, true, false
	w.Among, w.Except = nil, nil
	if len(Description(before, &every, w).Candidates) <= w.Spoken+1 {
		return d
	}
	return &all
}

// sameBefore returns what "the other" was before: of all that the description means there the one that
// shows what it does now. Which one is left out was known on the later page only. Where several show the
// same, before or now, none is returned: nobody knows which of them it was.
func sameBefore(before, after *page.Model, d *intent.Description, is *Found, w Want) Found {
	any := *d
	any.Other = false
	w.Among, w.Except = nil, nil
	if is.Plural {
		return othersBefore(before, after, any, is, w)
	}
	was := Description(before, &any, w)
	if len(is.Candidates) == 0 || was.Plural || len(was.Missing) > 0 {
		return was
	}
	now := shows(after, &is.Candidates[0])
	same := func(m *page.Model, list []Candidate) []Candidate {
		return slices.DeleteFunc(slices.Clone(list), func(c Candidate) bool {
			return c.What != is.Candidates[0].What || len(c.Missing) > 0 || shows(m, &c) != now
		})
	}
	was.Candidates = same(before, was.Candidates)
	if len(was.Candidates) > 1 || len(same(after, Description(after, &any, w).Candidates)) > 1 {
		was.Candidates = nil
	}
	return was
}

// othersBefore returns what "the other two" were before, in the order in which they stand now: none where
// not each of them was there, or more is gone than what was spoken of.
func othersBefore(before, after *page.Model, all intent.Description, is *Found, w Want) Found {
	all.Count, all.All = 0, true
	was := Description(before, &all, w)
	rest := was.Candidates
	was.Candidates = nil
	for i := range is.Candidates {
		now := shows(after, &is.Candidates[i])
		at := slices.IndexFunc(rest, func(c Candidate) bool { return len(c.Missing) == 0 && shows(before, &c) == now })
		if at < 0 {
			return was
		}
		was.Candidates, rest = append(was.Candidates, rest[at]), slices.Delete(slices.Clone(rest), at, at+1)
	}
	if len(rest) > w.Spoken {
		was.Candidates = nil
	}
	return was
}

// asNow checks that a thing shows and holds what it does now.
func (k *claimer) asNow(c *Candidate) {
	add := func(kind string, node int, text string) {
		if node >= 0 && !k.m.Nodes[node].Hidden {
			k.e.Checks = append(k.e.Checks, Check{Kind: kind, Node: node, Group: -1, Text: text, Part: true})
		}
	}
	for i := range k.m.Fields {
		f := &k.m.Fields[i]
		if !k.ix.below(f.Node, c.Node) {
			continue
		}
		if n := &k.m.Nodes[f.Node]; n.HasValue || n.Checked != "" || len(n.Options) > 0 || len(f.Options) == 0 {
			add("value", f.Node, f.Value)
			continue
		}
		for _, o := range f.Options { // stars and buttons of a choice, which hold it one by one
			if o.Node >= 0 && o.Selected && k.m.Nodes[o.Node].Checked != "" {
				add("value", o.Node, o.Label)
			}
		}
	}
	if c.What == Container {
		for g := range k.m.Groups {
			if nodes := k.nodesOf(g); k.ix.below(k.m.Groups[g].Node, c.Node) && len(nodes) > 0 {
				k.countAll(g)
				if len(nodes) > 1 {
					k.e.Checks = append(k.e.Checks, Check{Kind: "order", Node: -1, Group: g, Nodes: nodes})
				} else {
					add("contains", nodes[0], k.m.Records[k.seen(g)[0]].Title)
				}
			}
		}
		return
	}
	for _, e := range k.texts(c) {
		own := e.node >= 0 && !(c.What == Record && e.node == c.Node)
		if own && e.kind == "text" && k.m.Nodes[e.node].Checked == "" && word.Contains(k.shownIn(e.node), e.text) {
			add("contains", e.node, e.text)
		}
	}
}

// shownIn is what an element and those in it show.
func (k *claimer) shownIn(node int) string {
	var b strings.Builder
	for i := node; i < len(k.m.Nodes) && k.ix.below(i, node) && b.Len() < maxShown; i++ {
		n := &k.m.Nodes[i]
		if n.Hidden && i != node || n.Checked != "" { // the stars of a rating are not shown as texts
			continue
		}
		if b.WriteString(" " + n.Text); n.Role == "text" { // what others are called is read out, and not seen
			b.WriteString(n.Name)
		}
	}
	return b.String()
}

// maxShown bounds what is compared of what an element shows.
const maxShown = 20_000

// shows is what a thing shows and holds, as one text.
func shows(m *page.Model, c *Candidate) string {
	k := &claimer{ix: indexOf(m), m: m}
	var b strings.Builder
	if c.What == Container {
		for i := range m.Fields {
			if f := &m.Fields[i]; k.ix.below(f.Node, c.Node) {
				b.WriteString(f.Label + "=" + f.Value + m.Nodes[f.Node].Checked + "\x00")
			}
		}
		for i := range m.Records {
			if k.ix.below(m.Records[i].Node, c.Node) {
				b.WriteString(m.Records[i].Title + "\x00")
			}
		}
		return b.String()
	}
	for _, e := range k.texts(c) {
		b.WriteString(e.text + "\x00")
	}
	n := &m.Nodes[c.Node]
	return b.String() + n.Checked + n.Selected + n.Value
}
