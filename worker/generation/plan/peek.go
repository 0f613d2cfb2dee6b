package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

const (
	// maxPeeks bounds the closed lists that are opened for the values of one form.
	maxPeeks = 4
	// maxOption is the longest text of an option.
	maxOption = 80
)

// peek opens the lists of a form whose options are made when they open, reads these, and closes them again,
// where a value says nothing of its field: only the options tell which list it is of.
func (p *planner) peek(ctx context.Context, f *form, within func(m *page.Model) int) error {
	if p.cfg.Explore == ExploreOff {
		return nil
	}
	for range maxPeeks {
		m, err := p.look(ctx)
		if err != nil || m.Dialog != nil || p.spent() {
			return err
		}
		left, _ := f.left()
		at := p.unreadList(m, p.wantIn(m, within(m)))
		if at < 0 || !p.unplaced(m, left, within(m)) {
			return nil
		}
		if p.lists == nil {
			p.lists = map[string][]string{}
		}
		name, mark := listName(m, at), p.mark()
		press := method.Way{Name: "opens " + method.DescribeNode(m, m.Fields[at].Node), Acts: []method.Act{method.Press(m.Fields[at].Node)}}
		p.lists[name] = nil
		now, err := p.step(ctx, &press)
		if err != nil {
			return err
		}
		if now != nil {
			p.lists[name] = optionsIn(m, now)
			p.trace("the list %s has %q", method.DescribeNode(m, m.Fields[at].Node), p.lists[name])
			if node := now.Index().ByRef(m.Nodes[m.Fields[at].Node].Ref); node >= 0 && len(p.lists[name]) > 0 { // it closes as it opened
				press.Acts = []method.Act{method.Press(node)}
				if now, err = p.step(ctx, &press); err != nil {
					return err
				}
			}
		}
		p.recallLists(m)
		if now != nil && !same(m, now) { // Escape may close more than the list
			if now, err = p.inverse(ctx, step.Tool{Type: step.PressKey, Args: step.Args{Key: "Tab"}}); err != nil {
				return err
			}
		}
		if now != nil && same(m, now) {
			p.drop(mark)
		} else if _, err := p.undo(ctx, mark, m); err != nil { // to open a list changes nothing
			return err
		}
		if now, err = p.look(ctx); err != nil {
			return err
		}
		p.recallLists(now)
	}
	return nil
}

// unreadList returns a field of a form that is a closed list of which nobody knows the options; -1.
func (p *planner) unreadList(m *page.Model, w find.Want) int {
	return slices.IndexFunc(m.Fields, func(f page.Field) bool {
		if !isList(&f) || f.Hidden || f.Disabled || behind(m, f.Node) || w.Within >= 0 && !m.Inside(w.Within, f.Node) || w.Within < 0 && f.Record >= 0 {
			return false
		}
		at := slices.IndexFunc(m.Fields, func(o page.Field) bool { return o.Node == f.Node })
		_, known := p.lists[listName(m, at)]
		return !known && !w.Taken[m.Nodes[f.Node].Ref] && !strings.ContainsAny(f.Value, "0123456789") && !method.Narrows(m, at)
	})
}

// unplaced reports whether a value has no name and is no number or date, and goes into no field, or into one
// that takes any text.
func (p *planner) unplaced(m *page.Model, left []intent.Field, within int) bool {
	as := find.Assign(m, left, p.wantIn(m, within))
	for i := range left {
		v := &left[i].Value
		if left[i].Name != nil || left[i].Off || left[i].Keep || v.Quoted || v.Number != nil || v.Date != nil || strings.Contains(v.Text, "@") {
			continue
		}
		at := slices.IndexFunc(as.Slots, func(s find.Slot) bool { return s.Value == i })
		if at < 0 || as.Slots[at].To.What == find.Field && as.Slots[at].Label == "" && as.Slots[at].Text == v.Text && m.Fields[as.Slots[at].To.Index].Kind != "switch" {
			return true
		}
	}
	return false
}

// isList reports whether a field is a list whose options are not known.
func isList(f *page.Field) bool {
	return (f.Kind == "choice" || f.Kind == "choices") && len(f.Options) == 0
}

// optionsIn returns the texts of the options that came: what can be pressed, or has the role of one.
func optionsIn(before, now *page.Model) []string {
	var list []string
	for _, i := range newNodes(before, now) {
		n := &now.Nodes[i]
		text := strings.TrimSpace(n.Name)
		holds := slices.ContainsFunc(now.Controls, func(c page.Control) bool { return c.Node != i && now.Inside(i, c.Node) })
		if c := now.ControlAt(i); c >= 0 && now.Controls[c].Node == i && !holds {
			text = strings.TrimSpace(effect.ControlName(now, c))
		} else if n.Role != "option" && n.Role != "menuitem" && n.Role != "treeitem" {
			continue
		}
		if text != "" && len(text) <= maxOption && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// listName is what the options of a list are remembered by: its names, and which one it is of those that
// have the same.
func listName(m *page.Model, field int) string {
	of := func(i int) string { return strings.Join(m.Fields[i].Names, "|") }
	n := 0
	for i := range field {
		if of(i) == of(field) {
			n++
		}
	}
	return of(field) + "#" + strconv.Itoa(n)
}

// recallLists gives the fields of a model the options that were read of them.
func (p *planner) recallLists(m *page.Model) {
	for i := range m.Fields {
		f := &m.Fields[i]
		if !isList(f) {
			continue
		}
		held := strings.Split(f.Value, ", ")
		for _, label := range p.lists[listName(m, i)] {
			f.Options = append(f.Options, page.Option{Label: label, Node: -1, Selected: f.Value == label || f.Multiple && slices.Contains(held, label)})
		}
	}
}
