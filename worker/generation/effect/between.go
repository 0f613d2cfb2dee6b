package effect

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func between(before, after *page.Model) *Change {
	c := &Change{Before: before, After: after}
	c.URL, c.Title = before.URL != after.URL, before.Snapshot.Title != after.Snapshot.Title
	c.Windows = before.Windows != after.Windows
	c.Dialog = dialogText(before) != dialogText(after)
	if before.Dialog != nil || after.Dialog != nil { // such a snapshot shows nothing of the page
		c.records = newPairing(len(before.Records), len(after.Records))
		c.Nothing = !c.Dialog
		return c
	}
	c.groups = pairGroups(before, after)
	c.records = pairRecords(before, after, c.groups)
	compareRecords(c)
	compareOrder(c)
	c.fields = pairFields(before, after, c.records)
	for b, a := range c.fields.after {
		if a >= 0 && held(before, b) != held(after, a) {
			c.Fields = append(c.Fields, Pair{b, a})
		}
	}
	c.controls = pairControls(before, after, c.records)
	for b, a := range c.controls.after {
		if a >= 0 && controlState(before, b) != controlState(after, a) {
			c.Controls = append(c.Controls, Pair{b, a})
		}
	}
	compareContainers(c)
	compareLines(c)
	c.Looks = compareLooks(before.Snapshot, after.Snapshot)
	c.Nothing = !c.URL && !c.Title && !c.Windows && !c.Dialog && sameNodes(before.Snapshot, after.Snapshot) && len(c.Looks) == 0
	return c
}

func dialogText(m *page.Model) string {
	if m.Dialog == nil {
		return ""
	}
	return "dialog " + m.Dialog.Text
}

func compareRecords(c *Change) {
	for b, a := range c.records.after {
		switch {
		case a < 0:
			c.Removed = append(c.Removed, b)
			continue
		case c.elsewhere(b, a):
			c.Moved = append(c.Moved, Pair{b, a})
		}
		if content(c.Before, b) != content(c.After, a) || states(c.Before, b) != states(c.After, a) {
			c.Changed = append(c.Changed, Pair{b, a})
		}
	}
	for a, b := range c.records.before {
		if b < 0 {
			c.Added = append(c.Added, a)
		}
	}
	c.Set = len(c.Added)+len(c.Removed) > 0
}

// elsewhere reports whether a record stands in another group than before.
func (c *Change) elsewhere(b, a int) bool {
	from, to := c.Before.Records[b].Group, c.After.Records[a].Group
	return from >= 0 && to >= 0 && from < len(c.groups.after) && c.groups.after[from] != to
}

// states is what a record is, and how its controls stand.
func states(m *page.Model, i int) string {
	r := &m.Records[i]
	list := slices.Clone(r.States)
	slices.Sort(list)
	text := strings.Join(list, " ")
	for _, k := range r.Controls {
		if k >= 0 && k < len(m.Controls) {
			text += "|" + controlState(m, k)
		}
	}
	return text
}

// controlState is a control's state and name: a button "Follow" that becomes "Following".
func controlState(m *page.Model, i int) string {
	n := &m.Nodes[m.Controls[i].Node]
	sign := "" // ☆ and ★ under one name
	if isSign(n.Text) {
		sign = n.Text
	}
	return strings.Join([]string{m.Controls[i].State, Fold(ControlName(m, i)), n.Checked, n.Selected, n.Expanded, sign}, "/")
}

// held is what a field holds.
func held(m *page.Model, i int) string {
	f := &m.Fields[i]
	text := f.Value
	said := strings.Split(f.Value, ", ")
	for _, o := range f.Options {
		if o.Selected && !slices.Contains(said, o.Label) {
			text += "|" + o.Label
		}
	}
	return text
}

// compareOrder finds the groups whose records stand in another order, and the records that
// were moved in them: those outside of the longest run that kept its order.
func compareOrder(c *Change) {
	for g := range c.After.Groups {
		var order []int // places before, in the order after
		var at []int
		for _, a := range c.After.Groups[g].Records {
			if a < 0 || a >= len(c.records.before) {
				continue
			}
			if b := c.records.before[a]; b >= 0 && !c.elsewhere(b, a) {
				order, at = append(order, b), append(at, a)
			}
		}
		if slices.IsSorted(order) {
			continue
		}
		c.Reordered = append(c.Reordered, g)
		kept := longestRise(order)
		if len(order)-len(kept) > 1 && len(order)-len(kept) > len(order)/3 {
			continue
		}
		for i := range order {
			if !kept[i] {
				c.Moved = append(c.Moved, Pair{order[i], at[i]})
			}
		}
	}
}

// longestRise returns the places of a longest rising part of a list.
func longestRise(list []int) map[int]bool {
	var tails []int // the place of the least end of a rise of each length
	back := make([]int, len(list))
	for i, v := range list {
		at, _ := slices.BinarySearchFunc(tails, v, func(t, v int) int { return list[t] - v })
		back[i] = -1
		if at > 0 {
			back[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	kept := map[int]bool{}
	if len(tails) == 0 {
		return kept
	}
	for i := tails[len(tails)-1]; i >= 0; i = back[i] {
		kept[i] = true
	}
	return kept
}

func compareContainers(c *Change) {
	p := pairContainers(c.Before, c.After)
	for b, a := range p.after {
		if !c.Before.Containers[b].Hidden && (a < 0 || c.After.Containers[a].Hidden) {
			c.Closed = append(c.Closed, b)
		}
	}
	for a, b := range p.before {
		if !c.After.Containers[a].Hidden && (b < 0 || c.Before.Containers[b].Hidden) {
			c.Opened = append(c.Opened, a)
		}
	}
}

func compareLines(c *Change) {
	count := map[string]int{}
	for i := range c.Before.Lines {
		count[Fold(c.Before.Lines[i].Text)]++
	}
	for i := range c.After.Lines {
		key := Fold(c.After.Lines[i].Text)
		if count[key]--; count[key] < 0 && key != "" {
			c.NewLines = append(c.NewLines, i)
		}
	}
	for i := len(c.Before.Lines) - 1; i >= 0; i-- {
		key := Fold(c.Before.Lines[i].Text)
		if count[key] > 0 && key != "" {
			count[key]--
			c.GoneLines = append(c.GoneLines, i)
		}
	}
	slices.Reverse(c.GoneLines)
}

// sameNodes reports whether two snapshots show the same.
func sameNodes(a, b *snapshot.Snapshot) bool {
	if len(a.Nodes) != len(b.Nodes) {
		return false
	}
	for i := range a.Nodes {
		m, n := &a.Nodes[i], &b.Nodes[i]
		if m.Role != n.Role || m.Name != n.Name || m.Text != n.Text || m.Value != n.Value || m.Checked != n.Checked ||
			m.Selected != n.Selected || m.Expanded != n.Expanded || m.Disabled != n.Disabled || m.Hidden != n.Hidden || m.Invalid != n.Invalid {
			return false
		}
	}
	return true
}

// isSign reports whether a text is one sign that is drawn in place of an icon: ☆.
func isSign(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n > 0 && n == len(strings.TrimRight(text, "\ufe0f")) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// compareLooks returns the elements whose classes, colours or signs differ, as nodes of both: the
// only sign of the state of many widgets.
func compareLooks(a, b *snapshot.Snapshot) []Pair {
	at := map[string]int{}
	for i := range a.Nodes {
		if a.Nodes[i].Role != "text" {
			at[a.Nodes[i].Ref] = i
		}
	}
	var list []Pair
	for i := range b.Nodes {
		n := &b.Nodes[i]
		k, ok := at[n.Ref]
		if !ok || n.Role == "text" {
			continue
		}
		if m := &a.Nodes[k]; !slices.Equal(m.Hints, n.Hints) || !maps.Equal(m.Style, n.Style) || m.Text != n.Text &&
			isSign(m.Text) && isSign(n.Text) {
			list = append(list, Pair{k, i})
		}
	}
	return list
}

// Left reports whether the list of a record of Before is seen no more, but perhaps the record itself,
// shown alone: another view took its place.
func (c *Change) Left(record int) bool {
	if record < 0 || record >= len(c.Before.Records) {
		return false
	}
	group := c.Before.Groups[c.Before.Records[record].Group].Records
	others := 0
	for _, r := range group {
		if r != record && c.Record(r) >= 0 {
			return false
		}
		if r != record {
			others++
		}
	}
	return others > 1 && c.After.Dialog == nil
}

// Record returns which record of After a record of Before is; -1 when it is gone.
func (c *Change) Record(before int) int {
	if before < 0 || before >= len(c.records.after) {
		return -1
	}
	return c.records.after[before]
}

// Field returns which field of After a field of Before is; -1 when it is gone.
func (c *Change) Field(before int) int {
	if before < 0 || before >= len(c.fields.after) {
		return -1
	}
	return c.fields.after[before]
}

// Group returns which group of After a group of Before is; -1 when it is gone.
func (c *Change) Group(before int) int {
	if before < 0 || before >= len(c.groups.after) {
		return -1
	}
	return c.groups.after[before]
}
