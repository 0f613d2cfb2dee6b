package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// dateChooser chooses dates and times: in native fields, in pickers, and as text.
type dateChooser struct {
	*planner
	in *intent.Instruction
}

// pickDates chooses the dates of an instruction: one, or the two ends of a range.
func pickDates(ctx context.Context, p *planner, in *intent.Instruction) error {
	d := dateChooser{p, in}
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	fields, err := d.fields(ctx, v)
	if err != nil {
		return err
	}
	for i := range in.Values {
		value := &in.Values[i]
		if value.Date == nil {
			return p.notUnderstood(fmt.Sprintf("%q is no date", value.Text))
		}
		field := ""
		if len(fields) > 0 {
			field = fields[min(i, len(fields)-1)]
		}
		if err := d.choose(ctx, field, value); err != nil {
			return err
		}
	}
	return nil
}

// fields returns the refs of the fields that the dates belong into; none where a calendar
// is open already.
func (d dateChooser) fields(ctx context.Context, v *view) ([]string, error) {
	if d.in.Target != nil {
		for _, w := range []want{toFill, toChoose} {
			m, err := d.pick(v, d.in.Target, w)
			if err != nil {
				continue
			}
			if isContainerOf(v, m.index) {
				return d.fieldsIn(v, m.index), nil
			}
			return d.withNext(v, m.index), nil
		}
		m, err := d.pick(v, d.in.Target, toHold)
		if err == nil {
			return d.fieldsIn(v, m.index), nil
		}
	}
	if len(v.calendars(dayFirst(v.Lang))) > 0 {
		return nil, nil
	}
	list := d.fieldsIn(v, -1)
	general := d.in.Target == nil || hasAny(strings.Fields(squeeze(d.in.Target.Name+" "+d.in.Target.Noun)), dateHints)
	if (len(list) == 0 || !general) && d.in.Target != nil {
		m, err := d.resolve(ctx, d.in.Target, toFill)
		if err != nil {
			return nil, err
		}
		return []string{m.ref}, nil
	}
	if len(list) == 0 || len(list) > len(d.in.Values) {
		return nil, d.notUnderstood("it does not say into which field the date belongs")
	}
	return list, nil
}

// isContainerOf reports whether a node is no field itself, but has fields inside.
func isContainerOf(v *view, i int) bool {
	n := &v.Nodes[i]
	return !n.Editable && len(n.Options) == 0 && len(v.within(i, func(n *snapshot.Node) bool { return n.Editable && !n.Hidden })) > 0
}

// withNext returns a field, and for a range the one that follows it.
func (d dateChooser) withNext(v *view, i int) []string {
	list := []string{v.Nodes[i].Ref}
	if len(d.in.Values) < 2 || v.Nodes[i].Parent < 0 {
		return list
	}
	for up := v.Nodes[i].Parent; up >= 0; up = v.Nodes[up].Parent {
		for _, other := range v.within(up, func(n *snapshot.Node) bool { return n.Editable && !n.Hidden }) {
			if other > i {
				return append(list, v.Nodes[other].Ref)
			}
		}
	}
	return list
}

// fieldsIn returns the fields that take dates in a container: native ones, those that show
// a format or a date, and those called so; else the only field.
func (d dateChooser) fieldsIn(v *view, root int) []string {
	var dated, any []string
	for _, i := range v.within(root, func(n *snapshot.Node) bool { return n.Editable && !n.Hidden && !n.Disabled }) {
		n := &v.Nodes[i]
		any = append(any, n.Ref)
		if isDateField(n) {
			dated = append(dated, n.Ref)
		}
	}
	if len(dated) > 0 {
		return dated
	}
	if len(any) == 1 {
		return any
	}
	return nil
}

var dateHints = []string{"date", "datepicker", "datetimepicker", "hasdatepicker", "calendar", "datum", "flatpickr", "timepicker", "time", "day", "picker"}

func isDateField(n *snapshot.Node) bool {
	if slices.Contains([]string{"date", "time", "datetime-local", "month", "week"}, n.Type) {
		return true
	}
	if _, ok := formatOf(n.Placeholder); ok {
		return true
	}
	if _, ok := formatOfExample(n.Value, false); ok {
		return true
	}
	var words []string
	for _, text := range append(slices.Clone(n.Hints), n.Name, n.Label, n.Placeholder, n.ID, n.NameAttr) {
		words = append(words, strings.Fields(squeeze(text))...)
	}
	return hasAny(words, dateHints)
}

// choose puts one date where it belongs, in the way that the page has for it.
func (d dateChooser) choose(ctx context.Context, ref string, value *intent.Value) error {
	v, err := d.look(ctx)
	if err != nil {
		return err
	}
	m := momentOf(*value.Date, d.cfg.Now())
	n := v.node(ref)
	if n != nil {
		d.focus.target = ref
		if format, ok := formatOf(n.Placeholder); ok {
			m = inFormat(m, value.Text, format.dayComesFirst())
		}
		if text, ok := m.iso(n.Type); ok {
			return d.native(ctx, n, text)
		}
		if n.Type == "date" || n.Type == "datetime-local" || n.Type == "month" || n.Type == "time" {
			return d.notUnderstood("the intent does not say all that " + describeNode(n) + " takes")
		}
	}
	if n != nil && m.day == 0 && m.hasTime() {
		return d.typed(ctx, v, n, m)
	}
	american := !dayFirst(v.Lang)
	if len(v.calendars(!american)) == 0 && n != nil {
		if opened, err := d.open(ctx, v, n); err != nil {
			return err
		} else if !opened {
			return d.typed(ctx, v, n, m)
		}
	}
	return calendarChooser{d, ref, !american}.choose(ctx, m)
}

// dayComesFirst reports whether a format has the day before the month.
func (f dateFormat) dayComesFirst() bool {
	for _, p := range f.parts {
		if p.kind == 'd' || p.kind == 'M' {
			return p.kind == 'd'
		}
	}
	return false
}

// native sets the value of a native field.
func (d dateChooser) native(ctx context.Context, n *snapshot.Node, text string) error {
	if err := d.do(ctx, action{tool: step.InputText, on: n.Ref, args: step.Args{Text: &text}, why: "the date as " + describeNode(n) + " takes it"}); err != nil {
		return err
	}
	return d.holds(ctx, n, func(value string) bool { return value == text || strings.HasPrefix(value, text) })
}

// holds fails unless a field comes to hold a value.
func (d dateChooser) holds(ctx context.Context, n *snapshot.Node, right func(value string) bool) error {
	seen := ""
	_, ok, err := d.until(ctx, settle, func(v *view) bool {
		now := v.node(n.Ref)
		if now == nil {
			return true
		}
		seen = now.Value
		return right(now.Value)
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s: %s holds %q", d.understood(), describeNode(n), seen)}
}

// open opens the calendar of a field: by a click on it, or on the button beside it.
func (d dateChooser) open(ctx context.Context, v *view, n *snapshot.Node) (bool, error) {
	at := v.find(n.Ref)
	tries := []int{at}
	if parent := v.Nodes[at].Parent; parent >= 0 {
		tries = append(tries, v.within(parent, func(b *snapshot.Node) bool {
			return b.Ref != n.Ref && !b.Hidden && !b.Editable && (b.Interactive || b.Reacts != "") && b.Box[1] < n.Box[1]+n.Box[3] && b.Box[1]+b.Box[3] > n.Box[1]
		})...)
	}
	for k, i := range tries[:min(len(tries), 3)] {
		mark := d.mark()
		target := &v.Nodes[i]
		if k > 0 && !opensCalendar(target) {
			continue
		}
		record, err := d.try(ctx, action{tool: step.Click, on: target.Ref, why: "opens the calendar of " + describeNode(n), timeoutMS: 0})
		if err != nil {
			return false, err
		}
		if record.Result.Success {
			_, ok, err := d.until(ctx, time.Second, func(now *view) bool { return len(now.calendars(false)) > 0 })
			if ok || err != nil {
				return ok, err
			}
		}
		d.drop(mark, nil)
	}
	return false, nil
}

// opensCalendar reports whether a button beside a field may open its calendar.
func opensCalendar(n *snapshot.Node) bool {
	words := strings.Fields(squeeze(strings.Join(append(slices.Clone(n.Hints), n.Name, n.Title), " ")))
	return n.Popup != "" || n.Expanded != "" || hasAny(words, append([]string{"trigger", "kalender", "toggle", "open", "icon"}, dateHints...))
}

// typed types a date as the field writes it.
func (d dateChooser) typed(ctx context.Context, v *view, n *snapshot.Node, m moment) error {
	if n.ReadOnly {
		return d.notUnderstood(describeNode(n) + " opens no calendar, and cannot be typed into")
	}
	text, ok := d.text(v, n, m)
	if !ok {
		return d.notUnderstood("the intent does not say all that " + describeNode(n) + " takes")
	}
	if err := d.do(ctx, action{tool: step.InputText, on: n.Ref, args: step.Args{Text: &text}, why: "the date as " + describeNode(n) + " writes it"}); err != nil {
		return err
	}
	return d.holds(ctx, n, func(value string) bool { return squeeze(value) == squeeze(text) || strings.Contains(value, text) })
}

// text writes a date as a field shows that it takes it; as the intent does where it shows
// nothing.
func (d dateChooser) text(v *view, n *snapshot.Node, m moment) (string, bool) {
	for _, shown := range []string{n.Placeholder, n.Description, n.Title} {
		if format, ok := formatOf(shown); ok {
			return format.write(m, v.Lang)
		}
	}
	for _, shown := range []string{n.Value, n.Placeholder} {
		if format, ok := formatOfExample(shown, dayFirst(v.Lang)); ok {
			return format.write(m, v.Lang)
		}
	}
	for _, value := range d.in.Values {
		if momentOf(*value.Date, d.cfg.Now()) == m && value.Date.Relative == "" {
			return value.Text, true
		}
	}
	pattern := "mm/dd/yyyy"
	if dayFirst(v.Lang) {
		pattern = "dd.mm.yyyy"
	}
	if !m.hasDate() {
		pattern = "HH:mm"
	}
	format, _ := formatOf(pattern)
	return format.write(m, v.Lang)
}
