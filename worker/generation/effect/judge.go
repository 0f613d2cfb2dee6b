package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judged is a change with the goal that it is judged by.
type judged struct {
	*Change
	goal    *intent.Goal
	target  []find.Candidate
	records []int // of Before, those of the target
}

// judges has the judge of each effect class. A class that is missing is judged by what it
// does to its target, as any verb (act).
var judges = map[intent.Effect]func(*judged) Verdict{
	intent.Add: judgeAdd, intent.Remove: judgeRemove, intent.Complete: judgeComplete, intent.Reopen: judgeComplete,
	intent.Toggle: judgeComplete, intent.Move: judgeMove, intent.Act: judgeAct,
	intent.Sort: judgeSort, intent.Filter: judgeSet, intent.Search: judgeSet, intent.Page: judgePage,
	intent.Open: judgeOpen, intent.Close: judgeClose, intent.Abandon: judgeClose,
	intent.Expand: judgeExpand, intent.Collapse: judgeExpand,
	intent.Submit: judgeSubmit, intent.Confirm: judgeSubmit, intent.SignIn: judgeSubmit, intent.SignOut: judgeSignOut,
	intent.Set: judgeValue, intent.Choose: judgeValue, intent.Edit: judgeEdit, intent.Append: judgeEdit, intent.Clear: judgeEdit,
	intent.Increase: judgeStep, intent.Decrease: judgeStep, intent.Rate: judgeRate, intent.Select: judgeSelect,
	intent.Press: judgePress, intent.Type: judgeDone, intent.Point: judgeDone, intent.Upload: judgeDone, intent.Download: judgeDone,
	intent.Copy: judgeDone, intent.Scroll: judgeDone, intent.Resize: judgeDone, intent.Window: judgeDone, intent.Wait: judgeDone,
	intent.Navigate: judgeDone,
}

func judge(c *Change, g *intent.Goal, target []find.Candidate) Verdict {
	j := &judged{Change: c, goal: g, target: target}
	for i := range target {
		if r := RecordOf(c.Before, &target[i]); r >= 0 && !slices.Contains(j.records, r) {
			j.records = append(j.records, r)
		}
	}
	run := judges[g.Effect]
	if run == nil {
		run = judgeAct
	}
	if g.Effect != intent.Navigate && c.After.Dialog != nil && c.Before.Dialog == nil {
		return Verdict{State: Partly, Why: "the browser asks " + c.After.Dialog.Text}
	}
	v := run(j)
	if v.State == Reached || v.State == Partly {
		if harm := j.harm(); harm != "" {
			return Verdict{State: Wrong, Why: harm, Harm: harm}
		}
	}
	return v
}

// RecordOf returns the record that a candidate is, or is a part of; -1 without one.
func RecordOf(m *page.Model, c *find.Candidate) int {
	switch c.What {
	case find.Record, find.Attribute:
		return within(c.Index, len(m.Records))
	case find.Control:
		if within(c.Index, len(m.Controls)) >= 0 {
			return m.Controls[c.Index].Record
		}
	case find.Field, find.Option:
		if within(c.Index, len(m.Fields)) >= 0 {
			return m.Fields[c.Index].Record
		}
	case find.Line:
		if within(c.Index, len(m.Lines)) >= 0 {
			return m.Lines[c.Index].Record
		}
	}
	return -1
}

func within(i, n int) int {
	if i < 0 || i >= n {
		return -1
	}
	return i
}

// keepsAll are the effects after which any set of records may be seen: another part of the
// page, or of the list, is.
var keepsAll = map[intent.Effect]bool{intent.Sort: true, intent.Filter: true, intent.Search: true, intent.Page: true, intent.Open: true,
	intent.Close: true, intent.Navigate: true, intent.Abandon: true, intent.Submit: true, intent.Confirm: true, intent.Expand: true,
	intent.Collapse: true, intent.SignIn: true, intent.SignOut: true, intent.Press: true, intent.Type: true, intent.Window: true,
	intent.Choose: true, intent.Set: true, intent.Toggle: true, intent.Scroll: true, intent.Resize: true, intent.Wait: true,
	intent.Point: true, intent.Download: true}

// harm names what changed and must not have; "" for nothing. A record that is gone beside
// the target is harm, unless another part of the page is shown now.
func (j *judged) harm() string {
	box := len(j.records) == 0 && (j.goal.Effect == intent.Complete || j.goal.Effect == intent.Reopen) // it may be a filter
	if keepsAll[j.goal.Effect] || box || j.Change.URL || j.After.Dialog != nil || j.covered() {
		return ""
	}
	field := j.goal.Effect == intent.Clear && len(j.target) == 1 && j.target[0].What == find.Field // it is emptied, and what it is of stays
	for _, r := range j.Removed {
		if field && slices.Contains(j.records, r) || !j.belongs(r) && !j.leftGroup(r) && !j.refilled(r) && !j.stillShown(r) {
			return "also gone: " + shown(j.Before, r)
		}
	}
	return ""
}

// stillShown reports whether a page has as many texts that are the title of a record as there were such
// records beside the targets: what is left of a list may be none any more, and is not gone.
func (j *judged) stillShown(record int) bool {
	title := Fold(j.Before.Records[record].Title)
	n := 0
	for r := range j.Before.Records {
		if Fold(j.Before.Records[r].Title) == title && !slices.Contains(j.records, r) {
			n++
		}
	}
	for i := range j.After.Lines {
		if Fold(j.After.Lines[i].Text) == title {
			n--
		}
	}
	return title != "" && n <= 0
}

// covered reports whether a dialog in front hides what is behind it, or did.
func (j *judged) covered() bool {
	modal := func(m *page.Model) bool {
		return m.Front >= 0 && m.Front < len(m.Containers) && m.Containers[m.Front].Modal
	}
	return modal(j.Before) != modal(j.After)
}

// belongs reports whether a record of Before is a target, is in one, holds one, or has its
// title: a copy of it in another list.
func (j *judged) belongs(record int) bool {
	m := j.Before
	for _, t := range j.records {
		if t == record || Fold(m.Records[t].Title) == Fold(m.Records[record].Title) && m.Records[t].Title != "" {
			return true
		}
		for _, pair := range [][2]int{{t, record}, {record, t}} {
			for up := pair[0]; up >= 0 && up < len(m.Records); up = m.Records[up].Parent {
				if up == pair[1] {
					return true
				}
				if m.Records[up].Parent >= up {
					break
				}
			}
		}
		if m.Inside(m.Records[t].Node, m.Records[record].Node) || m.Inside(m.Records[record].Node, m.Records[t].Node) {
			return true
		}
	}
	if len(j.records) == 0 { // the target is no record: those around it are its own
		for i := range j.target {
			if m.Inside(m.Records[record].Node, j.target[i].Node) || m.Inside(j.target[i].Node, m.Records[record].Node) ||
				j.valueOf(&j.target[i], record) {
				return true
			}
		}
	}
	return false
}

// valueOf reports whether a record is one of the tags that a field holds, where the field is to be
// empty: they are gone with its value.
func (j *judged) valueOf(c *find.Candidate, record int) bool {
	if j.goal.Effect != intent.Clear || c.What != find.Field || within(c.Index, len(j.Before.Fields)) < 0 {
		return false
	}
	for _, tag := range strings.Split(j.Before.Fields[c.Index].Value, ",") {
		if t := Fold(strings.TrimSpace(tag)); t != "" && t == Fold(j.Before.Records[record].Title) {
			return true
		}
	}
	return false
}

// leftGroup reports whether the whole group of a record is seen no more: another view, and
// no deletion. A group of a single record does not count.
func (j *judged) leftGroup(record int) bool {
	g := j.Before.Records[record].Group
	if g < 0 || g >= len(j.Before.Groups) || len(j.Before.Groups[g].Records) < 2 {
		return false
	}
	for _, r := range j.Before.Groups[g].Records {
		if j.Record(r) >= 0 {
			return false
		}
	}
	for _, t := range j.records {
		if j.Before.Records[t].Group == g {
			return false
		}
	}
	return true
}

// left reports whether a record is gone because another page is open, which shows no other of its
// group either.
func (j *judged) left(record int) bool {
	g := j.Before.Records[record].Group
	if !j.Change.URL || g < 0 || g >= len(j.Before.Groups) || len(j.Before.Groups[g].Records) < 2 {
		return false
	}
	return !slices.ContainsFunc(j.Before.Groups[g].Records, func(r int) bool { return j.Record(r) >= 0 })
}

// refilled reports whether the group of a record is as long as before but for the targets: what
// is gone there was pushed onto another page of the list.
func (j *judged) refilled(record int) bool {
	g := j.Before.Records[record].Group
	a := j.Group(g)
	if g < 0 || a < 0 {
		return false
	}
	gone := 0
	for _, t := range j.records {
		if j.Before.Records[t].Group == g && j.Record(t) < 0 {
			gone++
		}
	}
	return len(j.After.Groups[a].Records) >= len(j.Before.Groups[g].Records)-gone && len(j.Added) > 0
}

func shown(m *page.Model, record int) string {
	r := &m.Records[record]
	if r.Title != "" {
		return r.Title
	}
	if len(r.Attributes) > 0 {
		return r.Attributes[0].Text
	}
	return "a record"
}

// opened returns what opened that one can go on in: a dialog, menu or panel; -1 for nothing.
func (j *judged) opened() int {
	if j.After.Front >= 0 && slices.Contains(j.Opened, j.After.Front) {
		return j.After.Front
	}
	for _, i := range j.Opened {
		switch j.After.Containers[i].Kind {
		case "dialog", "menu", "panel", "form", "section", "list":
			return i
		}
	}
	return -1
}

// partly is a step on the way where something opened, else unseen.
func (j *judged) partly() Verdict {
	if i := j.opened(); i >= 0 {
		c := &j.After.Containers[i]
		return Verdict{State: Partly, Why: strings.TrimSpace("opened " + c.Kind + " " + c.Title)}
	}
	if j.Nothing {
		return Verdict{State: Unseen, Why: "nothing changed"}
	}
	if j.newFields() {
		return Verdict{State: Partly, Why: "fields came"}
	}
	return Verdict{State: Unseen, Why: "nothing speaks for it"}
}

// newFields reports whether After shows fields that Before did not.
func (j *judged) newFields() bool {
	for a, b := range j.fields.before {
		if b < 0 && !j.After.Fields[a].Hidden {
			return true
		}
	}
	return false
}

func reached(why string, used ...find.Use) Verdict {
	return Verdict{State: Reached, Why: why, Used: used}
}
