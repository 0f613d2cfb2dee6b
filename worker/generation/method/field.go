package method

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// OptionWays returns the ways to choose an option of a field.
func OptionWays(t *Task, field, option int) []Way {
	m := t.Model
	if field < 0 || field >= len(m.Fields) || option < 0 || option >= len(m.Fields[field].Options) {
		return nil
	}
	f := &m.Fields[field]
	o := &f.Options[option]
	if o.Disabled || f.Disabled {
		return nil
	}
	n := &m.Nodes[f.Node]
	switch {
	case len(n.Options) > 0 && !n.Hidden:
		return []Way{t.way("the option "+o.Label+" of "+DescribeNode(m, f.Node), costNamed, choose(f.Node, optionValue(f, option)))}
	case o.Node >= 0:
		if at := seenFor(m, o.Node, o.Label); !m.Nodes[at].Hidden {
			return []Way{t.way("the option "+o.Label, costNamed, press(at))}
		}
	}
	w := t.way("the list "+DescribeNode(m, f.Node), costState, press(f.Node))
	w.Reveals = true
	return []Way{w}
}

// optionValue is what a native list is given: the label, unless several have it.
func optionValue(f *page.Field, option int) string {
	o := &f.Options[option]
	alike := 0
	for i := range f.Options {
		if f.Options[i].Label == o.Label || f.Options[i].Value == o.Label {
			alike++
		}
	}
	if alike > 1 || o.Label == "" {
		return o.Value
	}
	return o.Label
}

// FillWays returns the ways to have a field hold a value. Off clears or unticks it.
func FillWays(t *Task, c *find.Candidate, v *intent.Value, off bool) []Way {
	m := t.Model
	if c.Index < 0 || c.Index >= len(m.Fields) {
		return nil
	}
	f := &m.Fields[c.Index]
	if c.What == find.Option && c.Sub < len(f.Options) {
		if f.Options[c.Sub].Selected == !off && f.Kind != "rating" {
			return nil
		}
		if list := OptionWays(t, c.Index, c.Sub); len(list) > 0 {
			return list
		}
	}
	if i := optionNamed(f, v.Text); i >= 0 && c.What == find.Field && f.Kind != "rating" {
		if list := OptionWays(t, c.Index, i); len(list) > 0 {
			return list
		}
	}
	n := &m.Nodes[f.Node]
	switch {
	case f.Kind == "switch":
		at := seenFor(m, f.Node, f.Label)
		return []Way{t.way("the "+DescribeNode(m, f.Node), costNamed, press(at)), t.way("the "+DescribeNode(m, f.Node)+
			", by a key", costState, key(f.Node, "Space"))}
	case f.Kind == "slider" && n.Tag != "input":
		return t.slide(f, v)
	case f.Kind == "slider":
		return append([]Way{t.way("the "+DescribeNode(m, f.Node), costNamed, fill(f.Node, numberText(v)))}, t.slide(f, v)...)
	case f.Kind == "rating":
		return t.stars(f, v)
	case v.Date != nil && v.Date.To != nil:
		return t.ranges(f, v)
	case f.ReadOnly && v.Date != nil && dateLike(f, n):
		return t.dates(f, v)
	case f.Kind == "choice" || f.Kind == "choices" || n.Role == "combobox" && len(n.Options) == 0:
		return t.combobox(f, v)
	case f.Kind == "date" || f.Kind == "time" || n.Type == "date" || n.Type == "time" || v.Date != nil && dateLike(f, n):
		return t.dates(f, v)
	}
	text := v.Typed()
	if (n.Type == "number" || f.Kind == "number") && (v.Saved == "" || v.Text != numberText(v)) {
		text = numberText(v)
	}
	return t.texts(f, text)
}

// optionNamed returns the option of a field that is called as a text; -1.
func optionNamed(f *page.Field, text string) int {
	return slices.IndexFunc(f.Options, func(o page.Option) bool { return textsAgree(o.Label, text) })
}

// texts returns the ways to have a field hold a text: set, typed over what it holds, stepped.
func (t *Task) texts(f *page.Field, text string) []Way {
	n := &t.Model.Nodes[f.Node]
	name := "the field " + DescribeNode(t.Model, f.Node)
	if f.Kind == "editor" && !n.Editable && !f.ReadOnly { // it draws its text, and takes keys
		return []Way{t.way(name+", typed over", costNamed, press(f.Node), key(-1, "Control+a"), typed(-1, text))}
	}
	if f.ReadOnly || !n.Editable && n.Reacts == "" && !f.InPlace { // a table may listen for all of its cells
		return t.steppers(f, text)
	}
	if f.Entries {
		return []Way{
			t.way(name+", and Enter", costNamed, fill(f.Node, text), key(f.Node, "Enter")),
			t.way(name+", and a comma", costState, press(f.Node), typed(-1, text+",")),
		}
	}
	if !n.Editable { // a cell that is edited in place
		open := act(step.DoubleClick, f.Node)
		return []Way{
			t.way(name+", edited in place", costNamed, open, key(-1, "Control+a"), typed(-1, text), key(-1, "Enter")),
			t.way(name+", typed over", costState, press(f.Node), typed(-1, text), key(-1, "Enter")),
		}
	}
	return append([]Way{
		t.way(name, costNamed, fill(f.Node, text)),
		t.way(name+", typed", costState, press(f.Node), key(f.Node, "Control+a"), typed(-1, text)),
		t.way(name+", and Enter", costGlobal, fill(f.Node, text), key(f.Node, "Enter")),
	}, t.steppers(f, text)...)
}

// slide returns the presses of arrow keys that bring a slider to a value.
func (t *Task) slide(f *page.Field, v *intent.Value) []Way {
	n := &t.Model.Nodes[f.Node]
	now, err := strconv.ParseFloat(strings.TrimSpace(f.Value), 64)
	if err != nil {
		now, err = strconv.ParseFloat(n.Value, 64)
	}
	if err != nil || v.Number == nil {
		return nil
	}
	by, err := strconv.ParseFloat(n.Step, 64)
	if err != nil || by <= 0 {
		by = 1
	}
	if w, ok := Arrows(t.Model, f.Node, int(math.Round((*v.Number-now)/by))); ok {
		return []Way{w}
	}
	return nil
}

// Unmarked reports whether a field is a slider that does not say where it stands: only what the page
// shows beside it tells.
func Unmarked(m *page.Model, c *find.Candidate) bool {
	if c.What != find.Field || c.Index < 0 || c.Index >= len(m.Fields) || m.Fields[c.Index].Kind != "slider" {
		return false
	}
	f := &m.Fields[c.Index]
	return strings.TrimSpace(f.Value) == "" && m.Nodes[f.Node].Value == "" && m.Nodes[f.Node].Tag != "input"
}

// Arrows returns so many presses of an arrow key on a knob, to the right or to the left.
func Arrows(m *page.Model, node, times int) (Way, bool) {
	name := "ArrowRight"
	if times < 0 {
		name, times = "ArrowLeft", -times
	}
	if times == 0 || times > maxKeys {
		return Way{}, false
	}
	acts := make([]Act, times)
	for i := range acts {
		acts[i] = key(node, name)
	}
	t := &Task{Model: m}
	return t.way("the slider "+DescribeNode(m, node), costNamed, acts...), true
}

// maxKeys bounds how often a key or button is pressed for one value.
const maxKeys = 40

// steppers returns the presses of the buttons beside a number.
func (t *Task) steppers(f *page.Field, text string) []Way {
	want, err := strconv.ParseFloat(text, 64)
	now, failed := strconv.ParseFloat(strings.TrimSpace(f.Value), 64)
	if err != nil || failed != nil {
		return nil
	}
	times := int(math.Round(want - now))
	by := f.More
	if times < 0 {
		by = f.Less
	}
	if by >= 0 && by < len(t.Model.Controls) && times != 0 && max(times, -times) <= maxKeys {
		acts := make([]Act, max(times, -times))
		for i := range acts {
			acts[i] = press(t.Model.Controls[by].Node)
		}
		return []Way{t.way("the button "+DescribeNode(t.Model, acts[0].Node)+" beside it", costNamed, acts...)}
	}
	return t.Presses(f.Node, times)
}

// Presses returns the presses of the button beside a node that counts it up (or down).
func (t *Task) Presses(node, times int) []Way {
	up := times > 0
	if times == 0 || max(times, -times) > maxKeys {
		return nil
	}
	c := t.counter(node, up)
	if c < 0 {
		return nil
	}
	acts := make([]Act, max(times, -times))
	for i := range acts {
		acts[i] = press(c)
	}
	return []Way{t.way("the "+DescribeNode(t.Model, c)+" beside it", costNamed, acts...)}
}

// counter returns the nearest button that counts a node up or down: plus and minus in the
// smallest element around it that has one; -1.
func (t *Task) counter(node int, up bool) int {
	m := t.Model
	for around := node; around >= 0; around = m.Nodes[around].Parent {
		found := -1
		for i := range m.Controls {
			c := &m.Controls[i]
			if !m.Inside(around, c.Node) || !usable(m, c) || c.Hidden || !countsBy(m, i, up) {
				continue
			}
			if found >= 0 {
				return -1
			}
			found = c.Node
		}
		if found >= 0 || m.Nodes[around].Parent >= around {
			return found
		}
		if r := m.Nodes[around].Role; r == "row" || r == "listitem" || r == "article" {
			return -1
		}
	}
	return -1
}

// countsBy reports whether a control counts up or down.
func countsBy(m *page.Model, i int, up bool) bool {
	name := strings.TrimSpace(effect.ControlName(m, i))
	signs := map[bool][]string{true: {"+", "＋", "▲", "▴"}, false: {"-", "−", "–", "▼", "▾"}}[up]
	if slices.Contains(signs, name) {
		return true
	}
	concepts := map[bool][]string{true: {"increase", "plus", "more_of"}, false: {"decrease", "minus", "less"}}[up]
	return hasConcept(&m.Controls[i], concepts...)
}

// CountsDown reports whether a control is the minus of a counter.
func CountsDown(m *page.Model, control int) bool { return countsBy(m, control, false) }

// Offers reports whether a record is the offer of a thing, and no entry of a list of what was taken: a
// control of it adds, and is no plus of a counter.
func Offers(m *page.Model, record int) bool {
	aim := find.Aim{Effect: intent.Add, Record: record, Within: -1}
	return slices.ContainsFunc(find.Controls(m, aim), func(c find.Candidate) bool { return !countsBy(m, c.Index, true) })
}

// stars returns the ways to give a rating.
func (t *Task) stars(f *page.Field, v *intent.Value) []Way {
	if v == nil || v.Number == nil {
		return nil
	}
	n := int(*v.Number)
	if native := t.Model.Nodes[f.Node].Options; len(native) > 0 {
		for i := range native {
			if sameNumber(native[i].Label, v) || native[i].Value != "" && sameNumber(native[i].Value, v) {
				return []Way{t.way("the option "+native[i].Label, costNamed, choose(f.Node, native[i].Value))}
			}
		}
		return nil
	}
	for i := range f.Options {
		if sameNumber(f.Options[i].Label, v) && f.Options[i].Node >= 0 {
			return []Way{t.way("the star "+f.Options[i].Label, costNamed, press(f.Options[i].Node))}
		}
	}
	if n >= 1 && n <= len(f.Options) && f.Options[n-1].Node >= 0 {
		return []Way{t.way("the star "+strconv.Itoa(n), costNamed, press(f.Options[n-1].Node))}
	}
	return t.slide(f, v)
}

// combobox returns the ways to choose in a list that opens: an option that it shows when it is
// pressed, or when the text is typed.
func (t *Task) combobox(f *page.Field, v *intent.Value) []Way {
	n := &t.Model.Nodes[f.Node]
	open := t.way("the list "+DescribeNode(t.Model, f.Node), costNamed, press(f.Node))
	open.Reveals = true
	list := []Way{open}
	if n.Editable && !f.ReadOnly {
		search := t.way("the list "+DescribeNode(t.Model, f.Node)+", searched", costState, fill(f.Node, v.Text))
		search.Reveals = true
		enter := t.way("the list "+DescribeNode(t.Model, f.Node)+", typed", costGlobal, fill(f.Node, v.Text), key(f.Node, "Enter"))
		list = append(list, search, enter)
	}
	return list
}

// Offered returns the presses of options that came with a list that was opened, and are a value.
func Offered(t *Task, v *intent.Value) []Way {
	d := valueDescription(v)
	var list []Way
	for _, c := range t.findIn(&d, t.scope(), find.Option, find.Control, find.Record, find.Line) {
		if c.Node < 0 || len(t.News) > 0 && !slices.Contains(t.News, c.Node) {
			continue
		}
		w := t.way("the option "+DescribeNode(t.Model, c.Node), costNamed+1-c.Score, press(t.nearestPress(c.Node)))
		w.Used = c.Used
		list = append(list, w)
	}
	if o := t.partOffered(v); len(list) == 0 && o >= 0 {
		list = append(list, t.way("the option "+DescribeNode(t.Model, o), costNamed, press(t.nearestPress(o))))
	}
	return list
}

// partOffered returns the only option that came and has a value as one of its parts: "Madrid" is that of
// "Europe/Madrid"; -1.
func (t *Task) partOffered(v *intent.Value) int {
	found := -1
	for _, i := range t.News {
		n := &t.Model.Nodes[i]
		if n.Role != "option" || n.Hidden || !find.IsPart(n.Name, v.Text) && !find.IsPart(n.Text, v.Text) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// numberText is a number as a field of numbers takes it: without unit, with a point.
func numberText(v *intent.Value) string {
	if v.Number != nil {
		return strconv.FormatFloat(*v.Number, 'f', -1, 64)
	}
	return v.Text
}

func numberValue(x float64) *intent.Value {
	return &intent.Value{Text: strconv.FormatFloat(x, 'f', -1, 64), Number: &x}
}
