package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// judgeAdd: one more record that shows what was added, once; or, where the target was there
// already (a product, a film), it stands in one more list, or a count, badge or message says so.
func judgeAdd(j *judged) Verdict {
	if names := j.addedNames(); len(names) > 0 && len(j.Removed) <= len(j.Added) {
		var fit []int
		for _, a := range j.Added {
			if showsAny(j.After, a, names) {
				fit = append(fit, a)
			}
		}
		if len(fit) > 0 {
			return reached("added "+shown(j.After, fit[0]), j.used("it was added")...)
		}
		if i := j.newLineWith(names); i >= 0 {
			return reached("the page now says "+j.After.Lines[i].Text, j.used("the page says it")...)
		}
	}
	if len(j.records) > 0 {
		return j.judgeTaken()
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	if len(j.Added) == 1 && len(j.Removed) == 0 {
		return reached("added " + shown(j.After, j.Added[0]))
	}
	if text := j.counted(); text != "" && len(j.target) > 0 && !j.failing() {
		return reached("a count changed: "+text, j.used("a count changed")...)
	}
	if len(j.newMessages()) > 0 && len(j.target) > 0 && !j.failing() {
		return reached("the page now says "+j.After.Lines[j.newMessages()[0]].Text, j.used("the page says it")...)
	}
	return Verdict{State: Unseen, Why: "nothing was added"}
}

// judgeTaken judges that a thing that the page offers was taken: put into a cart, on a list.
func (j *judged) judgeTaken() Verdict {
	title := Fold(j.Before.Records[j.records[0]].Title)
	for _, a := range j.Added {
		if title != "" && strings.Contains(content(j.After, a), title) {
			return reached("it is in one more list", j.used("it was added")...)
		}
	}
	for _, p := range j.Changed {
		if slices.Contains(j.records, p.Before) {
			return reached("it is marked as added", j.used("it is marked")...)
		}
		if title != "" && (strings.Contains(content(j.Before, p.Before), title) || strings.Contains(content(j.After, p.After), title)) {
			return reached("its entry changed", j.used("its entry changed")...)
		}
	}
	for _, p := range j.Moved {
		if slices.Contains(j.records, p.Before) {
			return reached("it moved to another list", j.used("it moved")...)
		}
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	if i := j.counted(); i != "" {
		return reached("a count changed: "+i, j.used("a count changed")...)
	}
	if len(j.Added) > 0 {
		return reached("one more "+shown(j.After, j.Added[0]), j.used("it was added")...)
	}
	if m := j.newMessages(); len(m) > 0 && !j.failing() {
		return reached("the page now says "+j.After.Lines[m[0]].Text, j.used("the page says it")...)
	}
	return j.partly()
}

// addedNames are the texts that a new record shows: quoted names, values of fields, words of
// the target where nothing on the page is called so.
func (j *judged) addedNames() []string {
	var list []string
	add := func(text string) {
		if text = Fold(text); text != "" {
			list = append(list, text)
		}
	}
	for i := range j.goal.Target {
		d := &j.goal.Target[i]
		if len(j.records) == 0 || d.Quoted {
			add(d.Phrase())
		}
	}
	if j.goal.Text != nil {
		add(j.goal.Text.Text)
	}
	for i := range j.goal.Fields {
		if f := &j.goal.Fields[i]; !f.Off && !f.Keep && len(f.Value.Text) > 2 {
			add(f.Value.Text)
		}
	}
	return list
}

func showsAny(m *page.Model, record int, names []string) bool {
	text := Fold(nodeText(m, m.Records[record].Node)) + " " + content(m, record)
	for _, name := range names {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// nodeText is what a node and all in it show.
func nodeText(m *page.Model, node int) string {
	if node < 0 || node >= len(m.Nodes) {
		return ""
	}
	var b strings.Builder
	b.WriteString(m.Nodes[node].Name + " " + m.Nodes[node].Text + " ")
	for i := node + 1; i < len(m.Nodes) && m.Inside(node, i) && b.Len() < maxText; i++ {
		b.WriteString(m.Nodes[i].Name + " ")
	}
	return b.String()
}

// maxText bounds the text of an element that is compared.
const maxText = 4000

// newLineWith returns a new line that has one of some texts; -1 without one.
func (j *judged) newLineWith(names []string) int {
	for _, i := range j.NewLines {
		text := Fold(j.After.Lines[i].Text)
		for _, name := range names {
			if strings.Contains(text, name) {
				return i
			}
		}
	}
	return -1
}

// newMessages are new lines in live regions, or outside of records.
func (j *judged) newMessages() []int {
	var list []int
	for _, i := range j.NewLines {
		if l := &j.After.Lines[i]; l.Live || l.Record < 0 {
			list = append(list, i)
		}
	}
	return list
}

// counted returns what names a number that went up or down outside of the records: a badge,
// a total; "" without one.
func (j *judged) counted() string {
	for _, p := range j.Controls {
		a, b := digits(ControlName(j.After, p.After)), digits(ControlName(j.Before, p.Before))
		if a != "" && a != b {
			return ControlName(j.After, p.After)
		}
	}
	for _, i := range j.NewLines {
		if digits(j.After.Lines[i].Text) != "" {
			return j.After.Lines[i].Text
		}
	}
	return ""
}

// used are the words of the goal's slots beside target and fields that an effect shows done:
// what it went into or became, and the verb.
func (j *judged) used(by string) []find.Use {
	list := []find.Use{{Span: j.goal.Verb, By: by}}
	return list
}

// judgeRemove: this record and only this is gone, or crossed out, or says that it is.
func judgeRemove(j *judged) Verdict {
	if len(j.records) == 0 {
		return j.judgeThingGone()
	}
	gone := 0
	for _, r := range j.records {
		if a := j.Record(r); a < 0 || j.elsewhere(r, a) {
			gone++
		}
	}
	covered := j.covered() && j.After.Front >= 0
	switch {
	case slices.ContainsFunc(j.records, j.left):
		return Verdict{State: Partly, Why: "another page is open"}
	case covered:
		return j.partly()
	case gone == len(j.records):
		return reached("it is gone", j.used("it is gone")...)
	case gone > 0:
		return Verdict{State: Partly, Why: "some are gone"}
	}
	for _, p := range j.Changed { // struck through, cancelled
		if slices.Contains(j.records, p.Before) && !j.onlyMarked(p) {
			return reached("it changed", j.used("it changed")...)
		}
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	if len(j.Removed) > 0 {
		return Verdict{State: Wrong, Why: "another one is gone: " + shown(j.Before, j.Removed[0]), Harm: shown(j.Before, j.Removed[0])}
	}
	return Verdict{State: Unseen, Why: "it is still there"}
}

// onlyMarked reports whether a record is only selected or has the focus now: a step on the
// way to delete it.
func (j *judged) onlyMarked(p Pair) bool {
	if content(j.Before, p.Before) != content(j.After, p.After) {
		return false
	}
	was, is := j.Before.Records[p.Before].States, j.After.Records[p.After].States
	for _, s := range is {
		if !slices.Contains(was, s) && s != "selected" && s != "checked" && s != "expanded" {
			return false
		}
	}
	return len(is) >= len(was)
}

// judgeComplete: the target's state changed, or the target stands in another list, and no
// other record's did.
func judgeComplete(j *judged) Verdict {
	if v, ok := j.switched(); ok {
		return v
	}
	if slices.ContainsFunc(j.records, j.unticked) {
		return Verdict{State: Unseen, Why: "its box is not ticked"}
	}
	if v, ok := j.targetChanged(); ok {
		return v
	}
	return j.partly()
}

// told reports whether a message that came, and is no refusal, names a record: a list that is made anew may show
// its first page then.
func (j *judged) told(record int) bool {
	title := j.Before.Records[record].Title
	return !j.failing() && slices.ContainsFunc(j.NewLines, func(i int) bool {
		l := &j.After.Lines[i]
		return l.Live && word.Contains(l.Text, title) && !lexicon.Refuses(l.Text, j.After.Lang)
	})
}

// targetChanged judges by what happened to the targets.
func (j *judged) targetChanged() (Verdict, bool) {
	if len(j.records) > 0 {
		changed, gone := 0, 0
		for _, r := range j.records {
			a := j.Record(r)
			if a < 0 && j.left(r) && !j.told(r) {
				continue // another page, which has none of its like
			}
			if a < 0 {
				gone++
			}
			if done, boxed := j.ticked(r, a); boxed {
				if done {
					changed++
				}
				continue
			}
			if a < 0 && !j.covered() || a >= 0 && (content(j.Before, r) != content(j.After, a) ||
				states(j.Before, r) != states(j.After, a) || j.elsewhere(r, a) || j.looksOther(r)) {
				changed++
			}
		}
		switch {
		case changed == 0 || j.covered() && j.After.Front >= 0:
			return Verdict{}, false
		case gone > 1 && (gone < len(j.records) || !j.others()):
			return Verdict{State: Unseen, Why: "another part of the list is seen"}, true
		case j.opensOnly():
			return j.partly(), true
		case len(j.otherChanges()) > 0:
			return Verdict{State: Wrong, Why: "others changed too: " + shown(j.Before, j.otherChanges()[0]),
				Harm: shown(j.Before, j.otherChanges()[0])}, true
		case changed == len(j.records):
			v := reached("it changed", j.used("it changed")...)
			v.Gone = gone > 0
			return v, true
		}
		return Verdict{State: Partly, Why: "some changed"}, true
	}
	for i := range j.target {
		t := &j.target[i]
		switch t.What {
		case find.Field, find.Option:
			if slices.ContainsFunc(j.Fields, func(p Pair) bool { return p.Before == t.Index }) {
				return reached("the field changed", j.used("it changed")...), true
			}
		case find.Control:
			if slices.ContainsFunc(j.Controls, func(p Pair) bool { return p.Before == t.Index }) && j.opened() < 0 {
				return reached("the control changed", j.used("it changed")...), true
			}
		}
		ref := refOf(j.Before, t.Node)
		if slices.ContainsFunc(j.Looks, func(p Pair) bool { return refOf(j.Before, p.Before) == ref }) && j.opened() < 0 {
			return reached("it looks different", j.used("it changed")...), true
		}
	}
	return Verdict{}, false
}

// others reports whether one of the list of the targets, and none of them, is still seen.
func (j *judged) others() bool {
	g := j.Before.Records[j.records[0]].Group
	if g < 0 || g >= len(j.Before.Groups) {
		return false
	}
	return slices.ContainsFunc(j.Before.Groups[g].Records, func(r int) bool { return !slices.Contains(j.records, r) && j.Record(r) >= 0 })
}

// opensOnly reports whether all that changed at the targets is that something opened.
func (j *judged) opensOnly() bool {
	if j.opened() < 0 {
		return false
	}
	for _, p := range j.Changed {
		if slices.Contains(j.records, p.Before) && content(j.Before, p.Before) != content(j.After, p.After) {
			return false
		}
	}
	return true
}

// looksOther reports whether an element in a record has other classes or colours.
func (j *judged) looksOther(record int) bool {
	node := j.Before.Records[record].Node
	return slices.ContainsFunc(j.Looks, func(p Pair) bool { return j.Before.Inside(node, p.Before) && p.Before != node })
}

// otherChanges are records beside the targets whose states differ now: done, checked.
func (j *judged) otherChanges() []int {
	var list []int
	for _, p := range j.Changed {
		if j.belongs(p.Before) || slices.Equal(j.Before.Records[p.Before].States, j.After.Records[p.After].States) {
			continue
		}
		was, is := j.Before.Records[p.Before].States, j.After.Records[p.After].States
		for _, s := range []string{"done", "checked", "disabled"} {
			if slices.Contains(was, s) != slices.Contains(is, s) {
				list = append(list, p.Before)
				break
			}
		}
	}
	return list
}

// judgeAct: any verb on a target: the target changed, left, or the page says something.
func judgeAct(j *judged) Verdict {
	if v, ok := j.targetChanged(); ok {
		return v
	}
	if j.goal.Concept == "undo" && len(j.Added) > 0 && len(j.Removed) == 0 { // with its fields
		v := reached("it is back: "+shown(j.After, j.Added[0]), j.used("it is back")...)
		v.Back = true
		return v
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	switch {
	case len(j.newMessages()) > 0 && !j.failing():
		return reached("the page now says "+j.After.Lines[j.newMessages()[0]].Text, j.used("the page says it")...)
	case len(j.Added) > 0:
		return reached("one more: "+shown(j.After, j.Added[0]), j.used("it was added")...)
	case j.Change.URL || j.Windows || len(j.Controls) > 0 || len(j.Fields) > 0:
		return reached("the page changed", j.used("the page changed")...)
	}
	return j.partly()
}
