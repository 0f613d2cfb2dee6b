package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judgeThingGone judges a removal of what is no record: a chip, a line, a text, all that a list
// has. It is gone while what stands beside it is still seen: else another page is.
func (j *judged) judgeThingGone() Verdict {
	gone := 0
	for i := range j.target {
		if j.After.Dialog == nil && !j.Change.URL && !j.covered() && j.thingGone(&j.target[i]) {
			gone++
		}
	}
	if gone > 0 && gone == len(j.target) {
		return reached("it is gone", j.used("it is gone")...)
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	if j.Change.URL {
		return Verdict{State: Partly, Why: "another page is open"}
	}
	if len(j.target) == 0 && (len(j.Removed) > 0 || len(j.Fields) > 0 || len(j.GoneLines) > 0) {
		return reached("something of it is gone", j.used("it is gone")...)
	}
	return j.partly()
}

// thingGone reports whether what a candidate is, or all that it holds, is not seen any more.
func (j *judged) thingGone(t *find.Candidate) bool {
	switch {
	case t.What == find.Control && within(t.Index, len(j.Before.Controls)) >= 0:
		return j.controlGone(t.Index)
	case (t.What == find.Field || t.What == find.Option) && within(t.Index, len(j.Before.Fields)) >= 0 && j.emptied(t):
		return true
	case t.What == find.Line && within(t.Index, len(j.Before.Lines)) >= 0:
		text := Fold(j.Before.Lines[t.Index].Text)
		if slices.ContainsFunc(j.After.Lines, func(l page.Line) bool { return Fold(l.Text) == text }) {
			return false
		}
	}
	ref := refOf(j.Before, t.Node)
	if ref == "" {
		return false
	}
	if !slices.ContainsFunc(j.After.Nodes, func(n nodeOf) bool { return n.Ref == ref && !n.Hidden }) {
		return true
	}
	return j.hollow(t.Node)
}

// controlGone reports whether a control is not seen any more, and one beside it of its role is,
// where there was one.
func (j *judged) controlGone(i int) bool {
	if j.seesControl(i) {
		return false
	}
	c := &j.Before.Controls[i]
	beside, seen := 0, 0
	for k := range j.Before.Controls {
		o := &j.Before.Controls[k]
		if k == i || o.Hidden || o.Role != c.Role || o.Container != c.Container || o.Record != c.Record ||
			Fold(ControlName(j.Before, k)) == Fold(ControlName(j.Before, i)) {
			continue
		}
		beside++
		if j.seesControl(k) {
			seen++
		}
	}
	return beside == 0 || seen > 0
}

// seesControl reports whether After shows a control of Before: itself, or one of its role and name.
func (j *judged) seesControl(i int) bool {
	if i < len(j.controls.after) {
		if a := j.controls.after[i]; a >= 0 && !j.After.Controls[a].Hidden && Fold(ControlName(j.After, a)) == Fold(ControlName(j.Before, i)) {
			return true
		}
	}
	c := &j.Before.Controls[i]
	return slices.ContainsFunc(j.After.Controls, func(o page.Control) bool {
		return !o.Hidden && o.Role == c.Role && len(o.Names) > 0 && Fold(o.Names[0].Text) == Fold(ControlName(j.Before, i))
	})
}

// emptied reports whether a field holds less than before, or has lost an option.
func (j *judged) emptied(t *find.Candidate) bool {
	for _, p := range j.Fields {
		if p.Before == t.Index {
			return t.What == find.Option ||
				len(strings.TrimSpace(j.After.Fields[p.After].Value)) < len(strings.TrimSpace(j.Before.Fields[p.Before].Value))
		}
	}
	return false
}

// hollow reports whether something that stood in an element is gone, and nothing came: the rows of
// a table, the lines of a note, the text of an editor.
func (j *judged) hollow(node int) bool {
	if len(j.Added) > 0 {
		return false
	}
	if slices.ContainsFunc(j.Removed, func(r int) bool { return j.Before.Inside(node, j.Before.Records[r].Node) }) {
		return true
	}
	for _, p := range j.Fields {
		if j.Before.Inside(node, j.Before.Fields[p.Before].Node) && strings.TrimSpace(j.After.Fields[p.After].Value) == "" {
			return true
		}
	}
	came := slices.ContainsFunc(j.NewLines, func(i int) bool { l := &j.After.Lines[i]; return !l.Live && sameHolder(j, node, l) })
	return !came && slices.ContainsFunc(j.GoneLines, func(i int) bool { return j.Before.Inside(node, j.Before.Lines[i].Node) })
}

// sameHolder reports whether a line of After stands in an element of Before.
func sameHolder(j *judged, node int, l *page.Line) bool {
	ref := refOf(j.Before, node)
	at := slices.IndexFunc(j.After.Nodes, func(n nodeOf) bool { return n.Ref == ref })
	return ref != "" && j.After.Inside(at, l.Node)
}
