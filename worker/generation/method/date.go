package method

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// dateLike reports whether a field of text takes dates: by the form of what it shows.
func dateLike(f *page.Field, n *snapshot.Node) bool {
	for _, text := range []string{f.Value, n.Placeholder} {
		if dateForm(text) != "" {
			return true
		}
	}
	return slices.ContainsFunc(append([]string{f.Label}, f.Names...), func(name string) bool { return textHas(name, "", "date", "day") })
}

// dateForm returns how a text writes dates, by a date or a pattern in it ("dd.mm.yyyy",
// "2024-05-31"), as a layout of package time; "" where it is none.
func dateForm(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || len(text) > 24 {
		return ""
	}
	sep := ""
	for _, s := range []string{"-", "/", "."} {
		if strings.Count(text, s) >= 2 {
			sep = s
			break
		}
	}
	if sep == "" {
		return ""
	}
	parts := strings.SplitN(text, sep, 3)
	year := func(p string) bool {
		p = strings.TrimSpace(p)
		return len(p) == 4 && (isDigits(p) || strings.Trim(p, "yja") == "")
	}
	switch {
	case year(parts[0]):
		return "2006" + sep + "01" + sep + "02"
	case strings.HasPrefix(parts[0], "m") || isDigits(parts[0]) && sep == "/" && len(parts[1]) <= 2 && parts[1] > "12":
		return "01" + sep + "02" + sep + "2006"
	case strings.Trim(parts[0], "djt") == "" || isDigits(parts[0]):
		return "02" + sep + "01" + sep + "2006"
	}
	return ""
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// dates returns the ways to have a field hold a date or time: set as the field writes it,
// typed, chosen in what opens.
func (t *Task) dates(f *page.Field, v *intent.Value) []Way {
	n := &t.Model.Nodes[f.Node]
	var list []Way
	name := "the date " + DescribeNode(t.Model, f.Node)
	open := t.way(name+", opened", costGlobal, press(f.Node))
	open.Reveals = true
	for i, text := range t.dateTexts(f, n, v) {
		if f.ReadOnly || !n.Editable {
			break
		}
		cost := costNamed + float64(i)*0.1
		list = append(list, t.way(name, cost, fill(f.Node, text)),
			t.way(name+", and Enter", cost+0.5, fill(f.Node, text), key(f.Node, "Enter")))
	}
	return append(list, open)
}

// dateTexts returns how a date may have to be written in a field, the likeliest first.
func (t *Task) dateTexts(f *page.Field, n *snapshot.Node, v *intent.Value) []string {
	d := v.Date
	if d == nil {
		return []string{v.Text}
	}
	if n.Type == "time" || f.Kind == "time" || d.Day == 0 && d.Hour >= 0 {
		return []string{fmt.Sprintf("%02d:%02d", max(d.Hour, 0), max(d.Minute, 0))}
	}
	when := time.Date(d.Year, time.Month(max(d.Month, 1)), max(d.Day, 1), max(d.Hour, 0), max(d.Minute, 0), 0, 0, time.UTC)
	switch n.Type {
	case "date":
		return []string{when.Format("2006-01-02")}
	case "datetime-local":
		return []string{when.Format("2006-01-02T15:04")}
	case "month":
		return []string{when.Format("2006-01")}
	}
	if form := dateForm(f.Value); form != "" {
		return []string{when.Format(form)}
	}
	if form := dateForm(n.Placeholder); form != "" {
		return []string{when.Format(form)}
	}
	if strings.HasPrefix(t.Model.Lang, "en") || t.Model.Lang == "" {
		return []string{when.Format("2006-01-02"), when.Format("01/02/2006"), v.Text}
	}
	list := []string{when.Format("02.01.2006"), when.Format("2006-01-02"), when.Format("02/01/2006"), v.Text}
	if !strings.HasPrefix(t.Model.Lang, "de") { // with strokes in French and Spanish
		list[0], list[2] = list[2], list[0]
	}
	return list
}

// agreesWithDate reports whether a text shows a date, in whatever order its parts stand.
func agreesWithDate(text string, d *intent.Date) bool {
	var numbers []int
	n, in := 0, false
	for _, r := range text + " " {
		if r >= '0' && r <= '9' {
			n, in = n*10+int(r-'0'), true
			if n > 1<<20 {
				return false
			}
			continue
		}
		if in {
			numbers = append(numbers, n)
		}
		n, in = 0, false
	}
	if d.Day == 0 && d.Hour >= 0 {
		if times := clock.FindAllStringSubmatch(text, -1); len(times) > 0 {
			return slices.ContainsFunc(times, func(t []string) bool { return isTime(t, d) })
		}
		return slices.Contains(numbers, d.Hour) && (d.Minute <= 0 || slices.Contains(numbers, d.Minute))
	}
	has := func(x int) bool { return slices.Contains(numbers, x) }
	month := d.Month == 0 || has(d.Month) || strings.Contains(strings.ToLower(text), strings.ToLower(time.Month(d.Month).String()[:3]))
	return d.Day > 0 && has(d.Day) && month && (d.Year == 0 || has(d.Year) || has(d.Year%100)) && (d.Hour < 0 || d.Hour == 0 || has(d.Hour))
}

// clock is a time with its minutes: 21:00, 9:00 pm.
var clock = regexp.MustCompile(`(?i)\b(\d{1,2}):(\d{2})(?:\s*(am|pm))?`)

// isTime reports whether a time of a text is the one of a date.
func isTime(t []string, d *intent.Date) bool {
	hour, _ := strconv.Atoi(t[1])
	minute, _ := strconv.Atoi(t[2])
	switch half := strings.ToLower(t[3]); {
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	return hour == d.Hour && minute == max(d.Minute, 0)
}

// DayWays returns the presses in a calendar that is open: the day, or what leads to its month. Where no
// year is said it is the one that is shown, or the next.
func DayWays(t *Task, d *intent.Date) []Way {
	var turns []Way
	for _, c := range calendars(t.Model) {
		if t.scope() >= 0 && !t.Model.Inside(t.scope(), c.Days[0]) || c.Month == 0 {
			continue
		}
		year := d.Year
		if year == 0 {
			if year = c.Year; d.Month < c.Month {
				year++
			}
		}
		if c.Year == year && c.Month == d.Month && d.Day >= 1 && d.Day <= len(c.Days) {
			return []Way{t.way(fmt.Sprintf("the day %d", d.Day), costNamed, press(c.Days[d.Day-1]))}
		}
		months := (year-c.Year)*12 + d.Month - c.Month
		button := c.next
		if months < 0 {
			button, months = c.previous, -months
		}
		if button < 0 || months > maxMonths || len(turns) > 0 {
			continue
		}
		w := t.way(fmt.Sprintf("the month, %d more", months), costState, press(button))
		w.Key += fmt.Sprint(c.Year, c.Month)
		w.Reveals = true
		turns = append(turns, w)
	}
	return turns
}

// maxMonths bounds how far a calendar is turned.
const maxMonths = 30
