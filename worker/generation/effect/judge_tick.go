package effect

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// ticked reports whether the box of a record is as a goal of completing or reopening asks for, and
// whether it has one at all: then nothing else of it says that it is done, and not what the pointer
// shows over it.
func (j *judged) ticked(before, after int) (done, boxed bool) {
	if after < 0 || marks[j.goal.Concept] || j.goal.Effect != intent.Complete && j.goal.Effect != intent.Reopen || j.elsewhere(before, after) {
		return false, false
	}
	was, is := boxOf(j.Before, before), boxOf(j.After, after)
	if was != is && j.goal.Become != nil && selectsOnly(j.Before, before) && content(j.Before, before) == content(j.After, after) {
		return false, true
	}
	if was == "" || is == "" || content(j.Before, before) != content(j.After, after) {
		return false, false
	}
	if !slices.Equal(withoutBox(j.Before.Records[before].States), withoutBox(j.After.Records[after].States)) {
		return false, false
	}
	return was != is, true
}

// switched judges a goal that is done to one box by that box alone, whatever opens beside it: a second
// press would undo the first.
func (j *judged) switched() (Verdict, bool) {
	if len(j.target) != 1 || j.target[0].What != find.Field && j.target[0].What != find.Control || j.target[0].Node < 0 {
		return Verdict{}, false
	}
	before := &j.Before.Nodes[j.target[0].Node]
	after := slices.IndexFunc(j.After.Nodes, func(n snapshot.Node) bool { return n.Ref == before.Ref })
	if before.Role != "checkbox" && before.Role != "switch" || before.Checked == "" || after < 0 || j.After.Nodes[after].Checked == "" {
		return Verdict{}, false
	}
	on := j.goal.Effect == intent.Complete || j.goal.Effect == intent.Toggle && j.goal.On
	want := map[bool]string{true: "true", false: "false"}[on]
	switch is := j.After.Nodes[after].Checked; {
	case is == before.Checked && j.opened() < 0:
		return Verdict{State: Unseen, Why: "its box is as it was"}, true
	case is == before.Checked:
		return j.partly(), true
	case is == want && len(j.records) > 0 && len(j.otherChanges()) > 0:
		other := shown(j.Before, j.otherChanges()[0])
		return Verdict{State: Wrong, Why: "others changed too: " + other, Harm: other}, true
	case is == want:
		return reached("its box is so now", j.used("its box")...), true
	}
	return Verdict{State: Unseen, Why: "its box is the other way round now"}, true
}

// withoutBox are states without those of a box.
func withoutBox(states []string) []string {
	return slices.DeleteFunc(slices.Clone(states), func(s string) bool { return s == "checked" || s == "unchecked" || s == "selected" })
}

// marks are the concepts of verbs that give a thing a sign or take it away, and do not finish it.
var marks = map[string]bool{"star": true, "favorite": true, "pin": true, "flag": true, "bookmark": true, "like": true, "unfavorite": true}

// boxOf is whether the only box of a record is ticked; "" without one.
func boxOf(m *page.Model, record int) string {
	is := ""
	for i := range m.Fields {
		if f := &m.Fields[i]; f.Record == record && f.Kind == "switch" {
			if is != "" {
				return ""
			}
			is = m.Nodes[f.Node].Checked
		}
	}
	return is
}

// unticked reports whether a record that is to be ticked has a box that is not, and shows nothing
// else than before: what changed is another mark of it, a star or a pin.
func (j *judged) unticked(r int) bool {
	a := j.Record(r)
	if j.goal.Effect != intent.Complete || j.goal.State != "checked" || j.goal.Become != nil || a < 0 || j.elsewhere(r, a) {
		return false
	}
	return slices.Contains(j.After.Records[a].States, "unchecked") && content(j.Before, r) == content(j.After, a)
}

// marked reports whether the boxes of all targets were ticked by a goal that chooses them.
func (j *judged) marked() bool {
	if j.goal.Effect != intent.Choose || len(j.records) == 0 {
		return false
	}
	return !slices.ContainsFunc(j.records, func(r int) bool {
		a := j.Record(r)
		return a < 0 || boxOf(j.Before, r) != "false" || boxOf(j.After, a) != "true"
	})
}

// selectsOnly reports whether the box of a record is called after selecting: what the record is to
// become is done to it afterwards, by something else.
func selectsOnly(m *page.Model, record int) bool {
	return slices.ContainsFunc(m.Fields, func(f page.Field) bool {
		return f.Record == record && f.Kind == "switch" && slices.ContainsFunc(f.Names, func(name string) bool { return lexicon.Means(name, "", "select") })
	})
}
