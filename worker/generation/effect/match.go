package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page"
)

// pairing says which things of a model are which of another one; -1 where a thing has none.
type pairing struct{ after, before []int }

func newPairing(before, after int) pairing {
	p := pairing{make([]int, before), make([]int, after)}
	for i := range p.after {
		p.after[i] = -1
	}
	for i := range p.before {
		p.before[i] = -1
	}
	return p
}

// match pairs what is left where two keys are the same; an empty key matches nothing. Of
// several with one key those are paired first that prefer says belong together.
func (p pairing) match(before, after func(i int) string, prefer func(b, a int) bool) {
	byKey := map[string][]int{}
	for a, b := range p.before {
		if b >= 0 {
			continue
		}
		if key := after(a); key != "" {
			byKey[key] = append(byKey[key], a)
		}
	}
	for _, sure := range []bool{true, false} {
		for b, a := range p.after {
			if a >= 0 {
				continue
			}
			key := before(b)
			list := byKey[key]
			if key == "" || len(list) == 0 {
				continue
			}
			at := 0
			if sure {
				if at = slices.IndexFunc(list[:min(len(list), maxAlike)], func(a int) bool { return prefer(b, a) }); at < 0 {
					continue
				}
			}
			p.after[b], p.before[list[at]] = list[at], b
			byKey[key] = slices.Delete(list, at, at+1)
		}
	}
}

// maxAlike bounds how many things of one key are compared: a table of a thousand rows that
// look the same must not take a million comparisons.
const maxAlike = 60

func refOf(m *page.Model, node int) string {
	if node < 0 || m.Snapshot == nil || node >= len(m.Nodes) {
		return ""
	}
	return m.Nodes[node].Ref
}

// sameRef returns whether two nodes are one element.
func sameRef(before, after *page.Model, b, a int) bool {
	ref := refOf(before, b)
	return ref != "" && ref == refOf(after, a)
}

// Fold returns a text without case and with single spaces.
func Fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// pairGroups pairs groups: by element, by what they are called and have, by kind and order.
func pairGroups(before, after *page.Model) pairing {
	p := newPairing(len(before.Groups), len(after.Groups))
	prefer := func(b, a int) bool { return sameRef(before, after, before.Groups[b].Node, after.Groups[a].Node) }
	p.match(func(i int) string { return refOf(before, before.Groups[i].Node) },
		func(i int) string { return refOf(after, after.Groups[i].Node) }, prefer)
	named := func(m *page.Model) func(i int) string {
		return func(i int) string {
			g := &m.Groups[i]
			key := g.Kind + "|" + Fold(g.Title)
			for _, c := range g.Columns {
				key += "|" + c.Name
			}
			return key
		}
	}
	p.match(named(before), named(after), prefer)
	return p
}

// content is all that a record shows, but for its states.
func content(m *page.Model, i int) string {
	r := &m.Records[i]
	var b strings.Builder
	b.WriteString(Fold(r.Title))
	for _, a := range r.Attributes {
		b.WriteByte(0)
		b.WriteString(Fold(a.Text))
	}
	return b.String()
}

// pairRecords pairs records: what shows the same in the same group, what is called the same
// there, the same in another group, and at last what is the same element. Content stands
// before the element, since pages use elements again for other records.
func pairRecords(before, after *page.Model, groups pairing) pairing {
	p := newPairing(len(before.Records), len(after.Records))
	prefer := func(b, a int) bool { return sameRef(before, after, before.Records[b].Node, after.Records[a].Node) }
	group := func(m *page.Model, i int) string {
		g := m.Records[i].Group
		if m == before && g >= 0 && g < len(groups.after) {
			g = groups.after[g]
			if g < 0 {
				return "gone|"
			}
		}
		return string(rune('A'+g%1000)) + "|"
	}
	both := func(key func(m *page.Model, i int) string) {
		p.match(func(i int) string { return key(before, i) }, func(i int) string { return key(after, i) }, prefer)
	}
	both(func(m *page.Model, i int) string { return group(m, i) + content(m, i) })
	both(func(m *page.Model, i int) string {
		if m.Records[i].Title == "" {
			return ""
		}
		return group(m, i) + Fold(m.Records[i].Title)
	})
	both(func(m *page.Model, i int) string {
		if m.Records[i].Title == "" {
			return ""
		}
		return content(m, i)
	})
	both(func(m *page.Model, i int) string { return Fold(m.Records[i].Title) })
	both(func(m *page.Model, i int) string { return refOf(m, m.Records[i].Node) })
	return p
}

// pairFields pairs fields by element, else by label and the record or container around.
func pairFields(before, after *page.Model, records pairing) pairing {
	p := newPairing(len(before.Fields), len(after.Fields))
	none := func(b, a int) bool { return before.Fields[b].Label == after.Fields[a].Label }
	p.match(func(i int) string { return refOf(before, before.Fields[i].Node) },
		func(i int) string { return refOf(after, after.Fields[i].Node) }, none)
	key := func(m *page.Model, i int) string {
		f := &m.Fields[i]
		record := f.Record
		if m == before && record >= 0 && record < len(records.after) {
			record = records.after[record]
		}
		return strings.Join([]string{f.Kind, Fold(f.Label), Fold(f.Group), titleAround(m, f.Container), string(rune('A' + (record+1)%5000))}, "|")
	}
	p.match(func(i int) string { return key(before, i) }, func(i int) string { return key(after, i) }, none)
	return p
}

func titleAround(m *page.Model, container int) string {
	if container < 0 || container >= len(m.Containers) {
		return ""
	}
	return m.Containers[container].Kind + " " + Fold(m.Containers[container].Title)
}

// pairControls pairs controls by element, else by name and the record or container around.
func pairControls(before, after *page.Model, records pairing) pairing {
	p := newPairing(len(before.Controls), len(after.Controls))
	none := func(b, a int) bool { return ControlName(before, b) == ControlName(after, a) }
	p.match(func(i int) string { return refOf(before, before.Controls[i].Node) },
		func(i int) string { return refOf(after, after.Controls[i].Node) }, none)
	key := func(m *page.Model, i int) string {
		c := &m.Controls[i]
		record := c.Record
		if m == before && record >= 0 && record < len(records.after) {
			record = records.after[record]
		}
		return strings.Join([]string{c.Role, Fold(ControlName(m, i)), titleAround(m, c.Container), string(rune('A' + (record+1)%5000))}, "|")
	}
	p.match(func(i int) string { return key(before, i) }, func(i int) string { return key(after, i) }, none)
	return p
}

// ControlName returns the best name of a control; "" without one.
func ControlName(m *page.Model, i int) string {
	if i < 0 || i >= len(m.Controls) || len(m.Controls[i].Names) == 0 {
		return ""
	}
	return m.Controls[i].Names[0].Text
}

// pairContainers pairs containers by element, else by kind and title.
func pairContainers(before, after *page.Model) pairing {
	p := newPairing(len(before.Containers), len(after.Containers))
	prefer := func(b, a int) bool { return before.Containers[b].Hidden == after.Containers[a].Hidden }
	p.match(func(i int) string { return refOf(before, before.Containers[i].Node) },
		func(i int) string { return refOf(after, after.Containers[i].Node) }, prefer)
	key := func(m *page.Model, i int) string {
		c := &m.Containers[i]
		if c.Title == "" {
			return ""
		}
		return c.Kind + "|" + Fold(c.Title)
	}
	p.match(func(i int) string { return key(before, i) }, func(i int) string { return key(after, i) }, prefer)
	return p
}
