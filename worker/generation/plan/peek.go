package plan

import (
	"context"
	"slices"
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
		w := p.wantIn(m, within(m))
		w.Taken = f.taken
		at := p.unreadList(m, w)
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

// lookForOptions returns what the page shows now, and reads its lists again where fewer are known than were read:
// what was chosen may have changed them.
func (p *planner) lookForOptions(ctx context.Context, f *form, within func(m *page.Model) int, read *int) (*page.Model, error) {
	m, err := p.look(ctx)
	if err != nil || len(p.lists) >= *read {
		return m, err
	}
	if err := p.peek(ctx, f, within); err != nil {
		return nil, err
	}
	*read = len(p.lists)
	return p.look(ctx)
}

// unreadList returns a field of a form that is a closed list of which nobody knows the options; -1.
func (p *planner) unreadList(m *page.Model, w find.Want) int {
	for i := range m.Fields {
		f := &m.Fields[i]
		if !isList(f) || f.Hidden || f.Disabled || behind(m, f.Node) || w.Within >= 0 && !m.Inside(w.Within, f.Node) ||
			w.Within < 0 && f.Record >= 0 {
			continue
		}
		_, known := p.lists[listName(m, i)]
		if !known && !w.Taken[m.Nodes[f.Node].Ref] && !strings.ContainsAny(f.Value, "0123456789") && !method.Narrows(m, i) {
			return i
		}
	}
	return -1
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
		if at < 0 || as.Slots[at].To.What == find.Field && as.Slots[at].Label == "" && as.Slots[at].Text == v.Text &&
			m.Fields[as.Slots[at].To.Index].Kind != "switch" {
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
	holds := map[int]bool{} // has a control below it
	for i := range now.Controls {
		for at := now.Nodes[now.Controls[i].Node].Parent; at >= 0 && !holds[at]; at = now.Nodes[at].Parent {
			holds[at] = true
		}
	}
	for _, i := range newNodes(before, now) {
		n := &now.Nodes[i]
		text := strings.TrimSpace(n.Name)
		if c := now.ControlAt(i); c >= 0 && now.Controls[c].Node == i && !holds[i] {
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

// listName is what the options of a list are remembered by: its element on its page, and its names.
func listName(m *page.Model, field int) string {
	f := &m.Fields[field]
	return strings.Join(append([]string{m.URL, m.Nodes[f.Node].Ref}, f.Names...), "|")
}

// forgetLists has the options of lists be unknown again, for what is claimed of the page, and what is done next.
func (p *planner) forgetLists() {
	if len(p.lists) > 0 {
		p.lists, p.model = nil, nil
	}
}

// forgetDependent forgets the options of the lists besides one in which something else is chosen now: they may
// depend on it. What is typed leaves them.
func (p *planner) forgetDependent(before, now *page.Model) {
	if len(p.lists) == 0 || before == nil {
		return
	}
	held := map[string]string{}
	for i := range before.Fields {
		held[listName(before, i)] = before.Fields[i].Value
	}
	for i := range now.Fields {
		name := listName(now, i)
		was, known := held[name]
		if !known || was == now.Fields[i].Value || !chooses(&now.Fields[i]) {
			continue
		}
		options, read := p.lists[name]
		clear(p.lists)
		if read {
			p.lists[name] = options
		}
	}
}

// chooses reports whether a field is no text: one of several is chosen in it, or it is on or off.
func chooses(f *page.Field) bool {
	return f.Kind == "choice" || f.Kind == "choices" || f.Kind == "switch"
}

// recallLists gives the fields of a model the options that were read of them.
func (p *planner) recallLists(m *page.Model) {
	if len(p.lists) == 0 {
		return
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if !isList(f) {
			continue
		}
		held := strings.Split(f.Value, ", ")
		for _, label := range p.lists[listName(m, i)] {
			f.Options = append(f.Options, page.Option{Label: label, Node: -1, Selected: f.Value == label || f.Multiple &&
				slices.Contains(held, label)})
		}
	}
}
