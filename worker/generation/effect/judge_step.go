package effect

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// judgeStep: a number that the target shows went the way that was asked for, by the amount where
// there is one.
func judgeStep(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case j.fieldStepped(), j.recordStepped(), j.textStepped():
		return reached("a number changed", j.used("a number changed")...)
	}
	return j.partly()
}

// fieldStepped reports whether a field of the target holds another number now.
func (j *judged) fieldStepped() bool {
	return slices.ContainsFunc(j.Fields, func(p Pair) bool {
		f := &j.Before.Fields[p.Before]
		if len(j.records) > 0 && !slices.Contains(j.records, f.Record) {
			return false
		}
		if f.Kind == "date" || f.Kind == "time" {
			return true
		}
		return j.rises(f.Value, j.After.Fields[p.After].Value)
	})
}

// recordStepped reports whether the target, or an entry elsewhere that is called so, shows another
// number now.
func (j *judged) recordStepped() bool {
	return slices.ContainsFunc(j.Changed, func(p Pair) bool {
		b, a := &j.Before.Records[p.Before], &j.After.Records[p.After]
		mine := slices.ContainsFunc(j.records, func(r int) bool { return r == p.Before || j.Before.Records[r].Title == b.Title })
		if len(j.records) > 0 && !mine {
			return false
		}
		for i := range min(len(a.Attributes), len(b.Attributes)) {
			was, is := &b.Attributes[i], &a.Attributes[i]
			if was.Name != is.Name || was.Text == is.Text {
				continue
			}
			dated := was.Type == page.Date && was.Number != nil && is.Number != nil
			if dated && (*is.Number > *was.Number) == (j.goal.Effect == intent.Increase) || j.rises(was.Text, is.Text) {
				return true
			}
		}
		return false
	})
}

// textStepped reports whether a line or control shows another number in the same words; of a record
// those that name it.
func (j *judged) textStepped() bool {
	names := func(text string) bool {
		return len(j.records) == 0 || slices.ContainsFunc(j.records, func(r int) bool {
			return word.Contains(text, find.WithoutCount(j.Before.Records[r].Title)) // of "Room 1", and not of "Room 2"
		})
	}
	for _, p := range j.Controls {
		if was, is := ControlName(j.Before, p.Before), ControlName(j.After, p.After); names(is) && j.rises(was, is) {
			return true
		}
	}
	for _, b := range j.GoneLines {
		for _, a := range j.NewLines {
			if was, is := j.Before.Lines[b].Text, j.After.Lines[a].Text; names(is) && j.rises(was, is) {
				return true
			}
		}
	}
	return false
}

var numbers = regexp.MustCompile(`\d+(?:[.,]\d+)?`)

// rises reports whether two texts are the same but for a number, and it went the way of the goal,
// by its amount. An amount with a unit is in another measure than what is shown, maybe.
func (j *judged) rises(before, after string) bool {
	if Fold(numbers.ReplaceAllString(before, "#")) != Fold(numbers.ReplaceAllString(after, "#")) {
		return false
	}
	was, is := numbers.FindAllString(before, -1), numbers.FindAllString(after, -1)
	for i := range was {
		by := amountOf(is[i]) - amountOf(was[i])
		if j.goal.Effect == intent.Decrease {
			by = -by
		}
		if by == 0 {
			continue
		}
		want := j.goal.Amount
		exact := want != nil && want.Number != nil && want.Unit == "" && j.goal.To == nil
		return by > 0 && (!exact || math.Abs(by-*want.Number) < 1e-9)
	}
	return false
}

func amountOf(text string) float64 {
	x, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	return x
}
