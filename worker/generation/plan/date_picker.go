package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// calendarChooser chooses a date in a calendar that is open.
type calendarChooser struct {
	dateChooser
	field    string // ref of the field that it is for; "" without
	dayFirst bool
}

// maxTurns is how many months a calendar is turned on or back, one at a time: five years.
const maxTurns = 60

// choose turns a calendar to the month of a date and clicks on its day.
func (c calendarChooser) choose(ctx context.Context, m moment) error {
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	shown, err := c.turn(ctx, v, m)
	if err != nil {
		return err
	}
	if v, err = c.look(ctx); err != nil {
		return err
	}
	if m.day < 1 || m.day > len(shown.days) {
		return c.notUnderstood(fmt.Sprintf("the month has no day %d", m.day))
	}
	day := clickable(v, shown.days[m.day-1])
	n := &v.Nodes[day]
	if n.Disabled {
		return c.notUnderstood(fmt.Sprintf("the calendar does not let the day %d be chosen", m.day))
	}
	before, former := v, c.value(v)
	if err := c.do(ctx, action{tool: step.Click, on: n.Ref, why: "the day"}); err != nil {
		return err
	}
	if err := c.changedSince(ctx, before, n); err != nil {
		return err
	}
	if m.hasTime() {
		if err := c.time(ctx, m); err != nil {
			return err
		}
	}
	if err := c.confirm(ctx, former); err != nil {
		return err
	}
	return c.verify(ctx, m)
}

// clickable returns the interactive node that a day is, or is in.
func clickable(v *view, i int) int {
	n := &v.Nodes[i]
	if n.Interactive || n.Reacts != "" {
		return i
	}
	inner := v.within(i, func(n *snapshot.Node) bool { return n.Interactive || n.Reacts != "" })
	if len(inner) == 1 {
		return inner[0]
	}
	if up := n.Parent; up >= 0 && (v.Nodes[up].Interactive || v.Nodes[up].Reacts != "") && dayNumber(v, up) > 0 {
		return up
	}
	return i
}

func (c calendarChooser) value(v *view) string {
	if n := v.node(c.field); n != nil {
		return n.Value
	}
	return ""
}

// turn brings the month of a date into view: by the lists of its header, else month by
// month.
func (c calendarChooser) turn(ctx context.Context, v *view, m moment) (*calendar, error) {
	if m.month == 0 { // only a day is said
		all := v.calendars(c.dayFirst)
		if len(all) != 1 {
			return nil, c.notUnderstood("it does not say which month")
		}
		return &all[0], nil
	}
	jumped := false
	for turns := 0; turns < maxTurns; turns++ {
		shown, at, err := c.shown(ctx, m)
		if err != nil || at != nil {
			return at, err
		}
		if !jumped && (shown.monthField >= 0 || shown.yearField >= 0) {
			jumped = true
			if moved, err := c.jump(ctx, shown, m); err != nil {
				return nil, err
			} else if moved {
				continue
			}
		}
		if err := c.step(ctx, shown, m); err != nil {
			return nil, err
		}
	}
	return nil, c.notUnderstood("the month is too far from the one that the calendar shows")
}

// shown returns the calendar that is nearest to the month of a date, and as at the one
// that shows it.
func (c calendarChooser) shown(ctx context.Context, m moment) (nearest, at *calendar, err error) {
	v, err := c.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := v.calendars(c.dayFirst)
	for i := range all {
		one := &all[i]
		switch {
		case one.year == 0 || one.month == 0:
		case one.monthsTo(m.year, m.month) == 0:
			return one, one, nil
		case nearest == nil || abs(one.monthsTo(m.year, m.month)) < abs(nearest.monthsTo(m.year, m.month)):
			nearest = one
		}
	}
	if nearest == nil {
		return nil, nil, c.notUnderstood("no calendar shows which month it is of")
	}
	return nearest, nil, nil
}

func abs(n int) int { return max(n, -n) }

// jump chooses month and year in the lists or fields of the header.
func (c calendarChooser) jump(ctx context.Context, shown *calendar, m moment) (moved bool, err error) {
	v, err := c.look(ctx)
	if err != nil {
		return false, err
	}
	if at := shown.yearField; at >= 0 && shown.year != m.year {
		if moved, err = c.set(ctx, v, at, strconv.Itoa(m.year), m.year, shown.days[0]); err != nil {
			return false, err
		}
		if v, err = c.look(ctx); err != nil {
			return false, err
		}
		all := v.calendars(c.dayFirst)
		if len(all) == 0 {
			return moved, nil
		}
		shown = &all[0]
	}
	if at := shown.monthField; at >= 0 && shown.month != m.month && len(v.Nodes[at].Options) > 1 {
		n := &v.Nodes[at]
		for i, o := range n.Options {
			_, month := readMonth(o.Label)
			if month == m.month || month == 0 && len(n.Options) == 12 && i == m.month-1 {
				return true, c.option(ctx, n, i)
			}
		}
	}
	return moved, nil
}

// set sets the year in a list or a field of the header.
func (c calendarChooser) set(ctx context.Context, v *view, at int, text string, year, _ int) (bool, error) {
	n := &v.Nodes[at]
	if len(n.Options) > 0 {
		for i, o := range n.Options {
			if y, _ := readMonth(o.Label); y == year {
				return true, c.option(ctx, n, i)
			}
		}
		return false, nil
	}
	return true, c.do(ctx, action{tool: step.InputText, on: n.Ref, args: step.Args{Text: &text}, why: "the year of the date"})
}

func (c calendarChooser) option(ctx context.Context, n *snapshot.Node, i int) error {
	wanted := n.Options[i].Label
	if optionsAlike(n, wanted) > 1 {
		wanted = n.Options[i].Value
	}
	return c.do(ctx, action{tool: step.Select, on: n.Ref, args: step.Args{OptionValue: &wanted}, why: "the month of the date"})
}

// step turns the calendar by one month or year towards a date, and looks that it did.
func (c calendarChooser) step(ctx context.Context, shown *calendar, m moment) error {
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	way := shown.monthsTo(m.year, m.month)
	arrow, yearly := shown.next, shown.nextYear
	if way < 0 {
		arrow, yearly = shown.previous, shown.previousYear
	}
	if abs(way) >= 12 && yearly >= 0 {
		arrow = yearly
	}
	if arrow < 0 {
		return c.notUnderstood("nothing leads from the month that the calendar shows to that of the date")
	}
	n := &v.Nodes[arrow]
	year, month := shown.year, shown.month
	if err := c.do(ctx, action{tool: step.Click, on: n.Ref, why: "towards the month of the date"}); err != nil {
		return err
	}
	_, ok, err := c.until(ctx, settle, func(v *view) bool {
		for _, one := range v.calendars(c.dayFirst) {
			if now := one.monthsTo(year, month); now != 0 && one.year > 0 && now < 0 == (way > 0) && abs(one.monthsTo(m.year, m.month)) < abs(way) {
				return true
			}
		}
		return false
	})
	if err != nil || ok {
		return err
	}
	return c.notUnderstood(describeNode(n) + " does not lead towards the month of the date")
}

// confirmations are the words of buttons that end a picker.
var confirmations = []string{"ok", "apply", "done", "set", "confirm", "übernehmen", "fertig", "anwenden"}

// confirm presses the button that ends a picker, where it is still open and the field does
// not hold the date yet.
func (c calendarChooser) confirm(ctx context.Context, former string) error {
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	all := v.calendars(c.dayFirst)
	if len(all) == 0 || c.field == "" || c.value(v) != former {
		return nil
	}
	root := all[0].root
	for up := range 3 {
		buttons := v.within(root, func(n *snapshot.Node) bool {
			return !n.Hidden && !n.Disabled && n.Interactive && slices.Contains(confirmations, squeeze(n.Name))
		})
		if len(buttons) == 1 && (root >= 0 || up == 0) {
			n := &v.Nodes[buttons[0]]
			return c.do(ctx, action{tool: step.Click, on: n.Ref, why: "ends the choice of the date"})
		}
		if root < 0 {
			break
		}
		root = v.Nodes[root].Parent
	}
	return nil
}

// verify looks whether the field holds the date. What it writes in a form that is not
// known must have the day in it.
func (c calendarChooser) verify(ctx context.Context, m moment) error {
	if c.field == "" {
		return nil
	}
	seen := ""
	_, ok, err := c.until(ctx, time.Second, func(v *view) bool {
		n := v.node(c.field)
		if n == nil || !n.HasValue {
			return true
		}
		seen = n.Value
		if got, ok := readDay(n.Value, c.dayFirst); ok {
			other, _ := readDay(n.Value, !c.dayFirst)
			return m.agrees(got) || m.agrees(other)
		}
		return slices.Contains(dateWords(n.Value), strconv.Itoa(m.day)) || slices.Contains(dateWords(n.Value), fmt.Sprintf("%02d", m.day))
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s: the field holds %q", c.understood(), seen)}
}

// agrees reports whether a date is the one that is known in part.
func (m moment) agrees(other moment) bool {
	return (m.year == 0 || m.year == other.year) && (m.month == 0 || m.month == other.month) && m.day == other.day
}

// time sets hour and minute in the fields or lists of an open picker.
func (c calendarChooser) time(ctx context.Context, m moment) error {
	hour, half := m.hour, ""
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	all := v.calendars(c.dayFirst)
	root := -1
	if len(all) > 0 && all[0].root >= 0 {
		root = v.Nodes[all[0].root].Parent
	}
	halves := v.within(root, func(n *snapshot.Node) bool {
		return !n.Hidden && (squeeze(n.Name) == "am" || squeeze(n.Name) == "pm") && n.Role != "text"
	})
	if len(halves) > 0 {
		i := halves[0]
		half = squeeze(v.Nodes[i].Name)
		hour = (m.hour+11)%12 + 1
		if wanted := map[bool]string{true: "pm", false: "am"}[m.hour >= 12]; wanted != half && len(v.Nodes[i].Options) == 0 {
			if err := c.do(ctx, action{tool: step.Click, on: v.Nodes[i].Ref, why: "the half of the day"}); err != nil {
				return err
			}
		}
	}
	for _, part := range []struct {
		words []string
		value int
	}{{[]string{"hour", "hours", "stunde", "stunden", "std"}, hour}, {[]string{"minute", "minutes", "min", "minuten"}, max(m.minute, 0)}} {
		if v, err = c.look(ctx); err != nil {
			return err
		}
		found := v.within(-1, func(n *snapshot.Node) bool {
			return !n.Hidden && (n.Editable || len(n.Options) > 0) && hasAny(dateWords(n.Name+" "+n.Title+" "+n.Label), part.words)
		})
		if len(found) != 1 {
			return c.notUnderstood("the picker does not show where the time belongs")
		}
		n, text := &v.Nodes[found[0]], fmt.Sprintf("%02d", part.value)
		if len(n.Options) > 0 {
			for i, o := range n.Options {
				if o.Label == text || o.Label == strconv.Itoa(part.value) {
					if err := c.option(ctx, n, i); err != nil {
						return err
					}
				}
			}
			continue
		}
		if err := c.do(ctx, action{tool: step.InputText, on: n.Ref, args: step.Args{Text: &text}, why: "the time"}); err != nil {
			return err
		}
	}
	return nil
}
