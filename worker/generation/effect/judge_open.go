package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// judgeOpen: another part of the site or page is seen.
func judgeOpen(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case j.Change.URL, j.Windows, j.Change.Title:
		return reached("another page is open", j.used("another page is open")...)
	case len(j.Opened) > 0:
		return reached("opened "+j.After.Containers[j.Opened[0]].Title, j.used("it opened")...)
	case len(j.NewLines) > 0 || j.newFields() || len(j.Added) > 0:
		return reached("other things are seen", j.used("other things are seen")...)
	case len(j.Controls) > 0, len(j.Fields) > 0:
		return reached("it is chosen now", j.used("it is chosen")...)
	case !sameNodes(j.Before.Snapshot, j.After.Snapshot):
		return reached("the page shows something else", j.used("the page changed")...)
	}
	return Verdict{State: Unseen, Why: "only its look changed"}
}

// judgeClose: something that was open is not seen any more.
func judgeClose(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case len(j.Closed) > 0, j.Before.Dialog != nil && j.After.Dialog == nil:
		return reached("it is closed", j.used("it is closed")...)
	case len(j.GoneLines) > 0, len(j.Removed) > 0, j.Change.URL, j.Windows:
		return reached("it is not seen any more", j.used("it is gone")...)
	}
	if v, ok := j.targetChanged(); ok {
		return v
	}
	return j.partly()
}

// judgeExpand: the state of the section or tree item is the one that was asked for, or more
// (less) is seen.
func judgeExpand(j *judged) Verdict {
	more := j.goal.Effect == intent.Expand
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case j.stayed(map[bool]string{true: "collapsed", false: "expanded"}[more]):
		return Verdict{State: Unseen, Why: "its state says that it is as it was"} // what came tells of it
	case more && (len(j.Opened) > 0 || len(j.NewLines) > 0 || len(j.Added) > 0):
		return reached("more is seen", j.used("it is expanded")...)
	case !more && (len(j.Closed) > 0 || len(j.GoneLines) > 0 || len(j.Removed) > 0):
		return reached("less is seen", j.used("it is collapsed")...)
	}
	for _, p := range j.Controls {
		if n := &j.After.Nodes[j.After.Controls[p.After].Node]; n.Expanded == map[bool]string{true: "true", false: "false"}[more] {
			return reached("its state says so", j.used("it changed")...)
		}
	}
	return j.partly()
}

// stayed reports whether a thing that was meant is in a state of its own that it was in before: what a
// control in it is, as a menu, says nothing of it.
func (j *judged) stayed(state string) bool {
	return slices.ContainsFunc(j.records, func(r int) bool {
		now := j.Record(r)
		n := &j.Before.Nodes[j.Before.Records[r].Node]
		return now >= 0 && (n.Role == "treeitem" || n.Expanded != "") && slices.Contains(j.Before.Records[r].States, state) &&
			slices.Contains(j.After.Records[now].States, state)
	})
}

// judgeSubmit: the form is gone, the page says something, a record came, or another page is
// seen. Fields that became invalid say that it was refused.
func judgeSubmit(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case j.failing() && !j.goal.Expected:
		return Verdict{State: Unseen, Why: "the page refuses what was filled in"}
	case j.Change.URL, j.Change.Title, j.Windows:
		return reached("another page is seen", j.used("it was handed in")...)
	case j.Before.Dialog != nil && j.After.Dialog == nil:
		return reached("the question is answered", j.used("it was answered")...)
	case j.refused() && !j.goal.Expected:
		return Verdict{State: Unseen, Why: "the page says that it refuses what was handed in", Refused: true}
	case len(j.Closed) > 0, len(j.Added) > 0, len(j.NewLines) > 0, len(j.Removed) > 0, len(j.Changed) > 0:
		return reached("the page took it", j.used("it was handed in")...)
	case len(j.Fields) > 0, len(j.Controls) > 0, len(j.GoneLines) > 0:
		return reached("the form changed", j.used("it was handed in")...)
	}
	return j.partly()
}

// judgeValue: the fields that were meant differ; whether they hold the right values is
// looked at field by field.
func judgeValue(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case len(j.Fields) > 0:
		return reached("the field changed", j.used("the value is set")...)
	case j.marked():
		return reached("it is marked", j.used("it is marked")...)
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	if v, ok := j.targetChanged(); ok {
		return v
	}
	if len(j.Controls) > 0 || len(j.NewLines) > 0 || len(j.Changed) > 0 || j.looksShow() {
		return reached("the page shows it", j.used("the page shows it")...)
	}
	return j.partly()
}

// judgeEdit: the text is seen, in the target or its field; of a record that gets another name the
// old one is gone.
func judgeEdit(j *judged) Verdict {
	want := ""
	switch {
	case j.goal.Text != nil:
		want = Fold(j.goal.Text.Text)
	case j.goal.Become != nil:
		want = Fold(j.goal.Become.Text)
	}
	if want != "" && j.goal.Effect == intent.Edit && len(j.target) == 1 && j.target[0].What == find.Record {
		return j.judgeRenamed(want)
	}
	if want != "" {
		for _, p := range j.Changed {
			if showsAny(j.After, p.After, []string{want}) {
				return reached("it shows the text", j.used("it shows the text")...)
			}
		}
		if len(j.Added) == 1 && len(j.Removed) == 1 && slices.Contains(j.records, j.Removed[0]) && showsAny(j.After, j.Added[0], []string{want}) {
			return reached("it is called so now", j.used("it shows the text")...)
		}
		if i := j.newLineWith([]string{want}); i >= 0 {
			return reached("the page shows the text", j.used("the page shows the text")...)
		}
	}
	if j.goal.Effect == intent.Clear && len(j.Fields) > 0 && !slices.ContainsFunc(j.Fields, j.cleared) {
		if v := j.partly(); v.State == Partly {
			return v
		}
		return Verdict{State: Unseen, Why: "it holds another text, and is not empty"}
	}
	if v := judgeValue(j); v.State != Unseen {
		return v
	}
	return j.partly()
}

// judgeRenamed judges that a record shows a text in the place of another one.
func (j *judged) judgeRenamed(want string) Verdict {
	r := j.target[0].Index
	old, a := content(j.Before, r), j.Record(r)
	shows := func(a int) bool { return showsAny(j.After, a, []string{want}) && content(j.After, a) != old }
	switch {
	case a >= 0 && shows(a), a < 0 && slices.ContainsFunc(j.Added, shows), j.left(r) && j.newLineWith([]string{want}) >= 0:
		return reached("it shows the text", j.used("it shows the text")...)
	}
	return j.partly()
}

// cleared reports whether a field that differs is empty now; what is chosen or counted goes back to
// where it began.
func (j *judged) cleared(p Pair) bool {
	f := &j.After.Fields[p.After]
	if f.Kind != "text" && f.Kind != "editor" {
		return true
	}
	return strings.TrimSpace(f.Value) == ""
}

// judgeSelect: the targets are marked.
func judgeSelect(j *judged) Verdict {
	if v, ok := j.targetChanged(); ok && v.State != Wrong {
		return v
	}
	if len(j.Fields) > 0 || len(j.Controls) > 0 || j.looksShow() {
		return reached("it is marked", j.used("it is marked")...)
	}
	return j.partly()
}

// judgeDone: the deed itself is what was asked for, whatever it does.
func judgeDone(j *judged) Verdict {
	return reached("it was done", find.Use{Span: j.goal.Verb, By: "it was done"})
}

// maxListener is how far above an element what listens for it may be.
const maxListener = 3

// judgePress: the deed itself is what was asked for; but what is no control and nothing came of is
// a text that was taken for one.
func judgePress(j *judged) Verdict {
	if j.Nothing && len(j.target) > 0 && !slices.ContainsFunc(j.target, func(c find.Candidate) bool { return j.reacts(&c) }) {
		return Verdict{State: Unseen, Why: "it is no control, and nothing changed"}
	}
	return judgeDone(j)
}

// reacts reports whether a thing is a control, has one in it or stands in one.
func (j *judged) reacts(c *find.Candidate) bool {
	m := j.Before
	if c.What == find.Control || c.What == find.Field || c.What == find.Option || c.Node < 0 {
		return true
	}
	for i, n := c.Node, 0; i >= 0 && n < maxListener; i, n = m.Nodes[i].Parent, n+1 {
		if m.Nodes[i].Interactive || m.Nodes[i].Reacts != "" {
			return true
		}
	}
	for i := c.Node + 1; i < len(m.Nodes) && m.Inside(c.Node, i); i++ {
		if m.Nodes[i].Interactive {
			return true
		}
	}
	return false
}

// Selected reports whether a control is the chosen one of its like.
func Selected(c *Change, control int) bool {
	if control < 0 || control >= len(c.After.Controls) {
		return false
	}
	return slices.Contains([]string{"selected", "pressed", "checked"}, c.After.Controls[control].State)
}
