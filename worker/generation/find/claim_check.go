package find

import (
	"math"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	amounts "github.com/slipway-qa/slipway/worker/generation/page/value"
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
	if k.before == nil {
		return
	}
	f := Description(k.before, d, Want{Kinds: []What{Record}, Lang: k.w.Lang, Within: -1})
	if len(f.Missing) > 0 || len(f.Candidates) == 0 {
		return
	}
	r := &k.before.Records[f.Candidates[0].Index]
	if role := k.before.Nodes[r.Node].Role; role != "text" && r.Group >= 0 {
		list := k.before.Nodes[k.before.Groups[r.Group].Node].Ref
		at := slices.IndexFunc(k.m.Nodes, func(n snapshot.Node) bool { return n.Ref == list && !n.Hidden })
		k.e.Checks = append(k.e.Checks, Check{Kind: "count", Node: at, Group: -1, Role: role})
	}
}

// unchanged evaluates whether things are as they were before.
func unchanged(before, after *page.Model, c *intent.Claim, w Want) Evidence {
	e := Evidence{Known: true, Holds: true}
	w.Hidden = true
	for i := range c.Subject {
		d := &c.Subject[i]
		was, is := Description(before, d, w), Description(after, d, w)
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
			if j >= len(was.Candidates) || is.Plural && len(was.Candidates) != n || shows(before, &was.Candidates[j]) != shows(after, &is.Candidates[j]) {
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

// stepped reports whether the one number that the subject shows became more or less than it was,
// and by as much as the claim says.
func stepped(before, after *page.Model, c *intent.Claim, w Want) bool {
	if len(c.Subject) != 1 {
		return false
	}
	was, is := Description(before, &c.Subject[0], w), Description(after, &c.Subject[0], w)
	if len(was.Candidates) == 0 || len(is.Candidates) == 0 {
		return false
	}
	old, now := numbers(shows(before, &was.Candidates[0])), numbers(shows(after, &is.Candidates[0]))
	if len(old) != 1 || len(now) != 1 {
		return false
	}
	step := now[0] - old[0]
	if c.Op == "<" {
		step = -step
	}
	if len(c.Values) == 1 && c.Values[0].Number != nil {
		return math.Abs(step-*c.Values[0].Number) < 1e-9
	}
	return step > 0 && len(c.Values) == 0
}

// numbers returns the numbers of a text.
func numbers(text string) []float64 {
	var list []float64
	for _, p := range amounts.Scan(text, "") {
		if p.Number != nil {
			list = append(list, *p.Number)
		}
	}
	return list
}

// asNow checks that a thing shows and holds what it does now.
func (k *claimer) asNow(c *Candidate) {
	add := func(kind string, node int, text string) {
		if node >= 0 && !k.m.Nodes[node].Hidden {
			k.e.Checks = append(k.e.Checks, Check{Kind: kind, Node: node, Group: -1, Text: text})
		}
	}
	for i := range k.m.Fields {
		if f := &k.m.Fields[i]; k.ix.below(f.Node, c.Node) {
			add("value", f.Node, f.Value)
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
		if e.kind == "text" && !(c.What == Record && e.node == c.Node) {
			add("contains", e.node, e.text)
		}
	}
}

// shows is what a thing shows and holds, as one text.
func shows(m *page.Model, c *Candidate) string {
	k := &claimer{ix: indexOf(m), m: m}
	s := ""
	if c.What == Container {
		for i := range m.Fields {
			if f := &m.Fields[i]; k.ix.below(f.Node, c.Node) {
				s += f.Label + "=" + f.Value + m.Nodes[f.Node].Checked + "\x00"
			}
		}
		for i := range m.Records {
			if k.ix.below(m.Records[i].Node, c.Node) {
				s += m.Records[i].Title + "\x00"
			}
		}
		return s
	}
	for _, e := range k.texts(c) {
		s += e.text + "\x00"
	}
	n := &m.Nodes[c.Node]
	return s + n.Checked + n.Selected + n.Value
}
