package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// drag drags elements onto another one, or to a place in the list that they are in.
func drag(ctx context.Context, p *planner, in *intent.Instruction) error {
	targets, err := p.resolveAll(ctx, in.Target, toDrag)
	if err != nil {
		return err
	}
	for _, m := range targets {
		p.focus.target = m.ref
		if in.Place == intent.Onto {
			err = p.dragOnto(ctx, m, in.To)
		} else {
			err = orderer{p}.place(ctx, m, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dragOnto drags an element onto what a phrase means.
func (p *planner) dragOnto(ctx context.Context, m match, to *intent.Phrase) error {
	if to == nil {
		return p.notUnderstood("it does not say where to")
	}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	onto, err := p.pick(v, to, toDrag)
	if err != nil || onto.ref == m.ref {
		if onto, err = p.pick(v, to, toHold); err != nil {
			if onto, err = p.resolve(ctx, to, toDrag); err != nil {
				return err
			}
		}
	}
	if onto.ref == m.ref {
		return p.notUnderstood("what is dragged and where to are the same")
	}
	if v, err = p.look(ctx); err != nil {
		return err
	}
	if err := p.do(ctx, action{tool: step.Drag, on: m.ref, target: onto.ref, why: m.why + ", onto " + describeNode(onto.node)}); err != nil {
		return err
	}
	return p.changedSince(ctx, v, m.node)
}

// orderer brings the items of a list into an order, by dragging them.
type orderer struct{ *planner }

// sortItems sorts the items that an instruction names.
func sortItems(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	for _, detail := range in.Details {
		if detail.Name == "by" {
			return sortColumn(ctx, p, v, detail.Value.Text, in.Order == "descending")
		}
	}
	items, err := p.items(v, in.Target)
	if err != nil {
		return err
	}
	keys, err := orderer{p}.keys(v, items)
	if err != nil {
		return err
	}
	var goal []string
	switch {
	case len(in.Values) > 0:
		for _, value := range in.Values {
			at := slices.IndexFunc(items, func(i int) bool { return v.likenessOf(i, value.Text) >= 0.8 })
			if at < 0 {
				return p.notUnderstood("the list has no item " + value.Text)
			}
			goal = append(goal, keys[at])
		}
		if len(goal) != len(keys) { // those that are not named stay behind
			for _, key := range keys {
				if !slices.Contains(goal, key) {
					goal = append(goal, key)
				}
			}
		}
	default:
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = v.shown(item)
		}
		for _, at := range sortedOrder(texts, in.Order == "descending") {
			goal = append(goal, keys[at])
		}
	}
	return orderer{p}.arrange(ctx, v, items, goal)
}

// sortColumn sorts a table by a column, by clicks on its header until its cells are in
// order.
func sortColumn(ctx context.Context, p *planner, v *view, name string, descending bool) error {
	header := columnHeader(v, name)
	if header < 0 {
		return p.notUnderstood("no column is clearly " + name)
	}
	ref := v.Nodes[header].Ref
	sorted := func(v *view) bool {
		at := v.find(ref)
		return at >= 0 && isSorted(columnTexts(v, at), descending)
	}
	for click := 0; click < 3; click++ {
		at := v.find(ref)
		if at < 0 || click > 0 && sorted(v) {
			return nil
		}
		on := ref
		if inner := v.within(at, isPressable); len(inner) == 1 {
			on = v.Nodes[inner[0]].Ref
		}
		if err := p.do(ctx, action{tool: step.Click, on: on, why: "sorts by the column " + name}); err != nil {
			return err
		}
		var err error
		if v, _, err = p.until(ctx, settle/3, sorted); err != nil {
			return err
		}
		if sorted(v) {
			return nil
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": the column does not come into the order"}
}

// place moves one item to a place in its list.
func (o orderer) place(ctx context.Context, m match, in *intent.Instruction) error {
	v, err := o.look(ctx)
	if err != nil {
		return err
	}
	at := v.find(m.ref)
	if at < 0 {
		return o.notUnderstood(describeNode(m.node) + " has gone")
	}
	items, from := siblingsOf(v, at)
	if len(items) < 2 {
		if in.To != nil { // what it is moved beside is no item of the same list
			return o.dragOnto(ctx, m, in.To)
		}
		return o.notUnderstood(describeNode(m.node) + " is in no list")
	}
	to := -1
	switch in.Place {
	case intent.First:
		to = 0
	case intent.Last:
		to = len(items) - 1
	case intent.At:
		if len(in.Values) > 0 && in.Values[0].Number != nil {
			to = int(*in.Values[0].Number) - 1
		}
	case intent.Before, intent.After:
		if in.To == nil {
			break
		}
		other, err := o.pick(v, in.To, toDrag)
		if err != nil {
			return err
		}
		beside := slices.IndexFunc(items, func(i int) bool { return v.inside(other.index, i) })
		if beside < 0 {
			return o.dragOnto(ctx, m, in.To)
		}
		to = beside
		if in.Place == intent.After && from > beside {
			to++
		}
		if in.Place == intent.Before && from < beside {
			to--
		}
	}
	if to < 0 || to >= len(items) {
		return o.notUnderstood("the list has no such place")
	}
	goal, err := o.keys(v, items)
	if err != nil {
		return err
	}
	key := goal[from]
	goal = slices.Insert(slices.Delete(goal, from, from+1), to, key)
	return o.arrange(ctx, v, items, goal)
}

// siblingsOf returns the items of the list that a node is an item of, or is in, and its place
// among them.
func siblingsOf(v *view, at int) ([]int, int) {
	for i := at; i >= 0; i = v.Nodes[i].Parent {
		n := &v.Nodes[i]
		var list []int
		for k := range v.Nodes {
			other := &v.Nodes[k]
			if other.Parent == n.Parent && other.Role == n.Role && other.Tag == n.Tag && !other.Hidden {
				list = append(list, k)
			}
		}
		if len(list) > 1 && n.Role != "text" {
			return list, slices.Index(list, i)
		}
	}
	return nil, -1
}

// keys returns what distinguishes items, and stays when they are moved: their texts, or
// their refs where two have the same.
func (o orderer) keys(v *view, items []int) ([]string, error) {
	keys := make([]string, len(items))
	seen := map[string]bool{}
	for i, item := range items {
		keys[i] = v.shown(item)
		if keys[i] == "" || seen[keys[i]] {
			for k, again := range items {
				keys[k] = v.Nodes[again].Ref
			}
			return keys, nil
		}
		seen[keys[i]] = true
	}
	return keys, nil
}

// arrange drags items until they are in an order. After each drag it looks where the
// item came to lie: lists differ in whether it goes before or behind the one that it
// was dropped on.
func (o orderer) arrange(ctx context.Context, v *view, items []int, goal []string) error {
	refs := o.byKey(v, items, goal)
	stuck, said := 0, ""
	for range 3*len(goal) + 6 {
		now := o.order(v, refs, goal)
		if len(now) != len(goal) {
			return &FailedError{Code: codeStepFailed, Detail: o.understood() + ": an item has gone"}
		}
		want := make([]int, len(goal))
		for i, key := range goal {
			want[i] = slices.IndexFunc(now, func(n int) bool { return o.key(v, n, refs) == key })
		}
		moves := fewestMoves(want)
		if len(moves) == 0 {
			return nil
		}
		mv := moves[0]
		target := mv.To
		switch {
		case stuck == 1 && mv.To > mv.From:
			target = mv.To + 1
		case stuck == 1:
			target = mv.To - 1
		case stuck > 1:
			return &FailedError{Code: codeStepFailed, Detail: o.understood() + ": the items stay where they are; " + said}
		}
		onto := -1
		if target >= 0 && target < len(now) {
			onto = now[target]
		} else if onto = beyond(v, now, target < 0); onto < 0 {
			return &FailedError{Code: codeStepFailed, Detail: o.understood() + ": the items stay where they are; " + said}
		}
		mark := o.mark()
		a := action{tool: step.Drag, on: v.Nodes[now[mv.From]].Ref, target: v.Nodes[onto].Ref, why: "towards the order that the intent says"}
		before := o.texts(v, now)
		record, err := o.try(ctx, a)
		if err != nil {
			return err
		}
		next, _, err := o.until(ctx, settle/3, func(next *view) bool { return !slices.Equal(o.texts(next, o.order(next, refs, goal)), before) })
		if err != nil {
			return err
		}
		if !record.Result.Success || slices.Equal(o.texts(next, o.order(next, refs, goal)), before) {
			o.drop(mark, nil)
			stuck, said = stuck+1, record.Result.Message
		} else {
			stuck = 0
		}
		v = next
	}
	return &FailedError{Code: codeStepFailed, Detail: o.understood() + ": the items do not come into the order"}
}

// maxBeyond is how far from a list, in pixels, what is dragged onto beyond its end may be.
const maxBeyond = 120

// beyond returns what stands nearest above or below a list: some lists let an item go to
// an end only when it is moved past it. -1 without.
func beyond(v *view, items []int, above bool) int {
	top, bottom := v.Nodes[items[0]].Box[1], v.Nodes[items[len(items)-1]].Box[1]+v.Nodes[items[len(items)-1]].Box[3]
	best, distance := -1, maxBeyond+1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Box[2] < 2 || n.Box[3] < 2 || v.inside(items[0], i) {
			continue
		}
		away := n.Box[1] + n.Box[3]/2 - bottom
		if above {
			away = top - n.Box[1] - n.Box[3]/2
		}
		if away > 0 && away < distance {
			best, distance = i, away
		}
	}
	return best
}

// byKey returns which keys are refs.
func (o orderer) byKey(v *view, items []int, goal []string) bool {
	return slices.ContainsFunc(items, func(i int) bool { return slices.Contains(goal, v.Nodes[i].Ref) })
}

func (o orderer) key(v *view, i int, refs bool) string {
	if refs {
		return v.Nodes[i].Ref
	}
	return v.shown(i)
}

// order returns the items as they stand now: the innermost group that has all keys.
func (o orderer) order(v *view, refs bool, goal []string) []int {
	wanted := map[string]bool{}
	for _, key := range goal {
		wanted[key] = true
	}
	byParent := map[int][]int{}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Hidden && n.Role != "text" && wanted[o.key(v, i, refs)] {
			byParent[n.Parent] = append(byParent[n.Parent], i)
		}
	}
	var found []int
	for _, list := range byParent {
		if len(list) == len(goal) && (found == nil || list[0] > found[0]) {
			found = list
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return placeOf(&v.Nodes[a]) - placeOf(&v.Nodes[b]) })
	return found
}

// placeOf is the order in which items are seen: from top to bottom, else left to right.
func placeOf(n *snapshot.Node) int { return n.Box[1]*20_000 + n.Box[0] }

func (o orderer) texts(v *view, items []int) []string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = v.Nodes[item].Ref + v.shown(item)
	}
	return list
}
