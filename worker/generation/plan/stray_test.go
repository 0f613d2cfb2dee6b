package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// pagedPrices is a table of two pages: who ordered how many, and what turns its page.
type pagedPrices struct {
	scene
	page, turns int
}

func newPagedPrices() *pagedPrices {
	o := &pagedPrices{}
	o.lang = "en"
	o.nodes = func() []snapshot.Node {
		rows := [][]string{{"Cake|", "Bread|", "Tea|"}, {"Buns|2", "Rolls|3", "Milk|4"}}[o.page]
		list := prices("row", rows...)
		for i := range list {
			if strings.HasPrefix(list[i].Ref, "price ") && list[i].Name != "" { // only what is here can be changed
				list[i].Tag, list[i].Role, list[i].Editable, list[i].Interactive, list[i].HasValue = "input", "textbox", true, true, true
				list[i].Value, list[i].Name = list[i].Name, "Price"
			}
		}
		pager := len(list)
		list = append(list, snapshot.Node{Ref: "pager", Parent: -1, Tag: "nav", Role: "navigation", Name: "Pages", Class: "pagination"})
		for _, name := range []string{"previous", "1", "2", "next"} {
			list = append(list, inside(pager, pressable(name, "button", name)))
		}
		return list
	}
	o.on = func(tool, ref, _ string) {
		if tool == step.Click && ref == "next" {
			o.page = 1
			o.turns++
		}
	}
	return o
}

// TestAThingOfAnotherPageIsNotWhatIsSet holds a search for a field to the thing that the text names: one of
// another page that holds the value already is not it.
func TestAThingOfAnotherPageIsNotWhatIsSet(t *testing.T) {
	o := newPagedPrices()
	out, err := plan.Run(t.Context(), plan.Config{Page: o, Intent: "In the row of Cake, set the price to 2", NoSuggestion: true,
		Trace: func(line string) { t.Log(line) }})
	if err == nil {
		t.Errorf("done by %d steps: %v", len(out.Steps), o.did)
	}
	if o.turns > 2 {
		t.Errorf("the last page was turned %d times", o.turns)
	}
}

// TestAllOfAThingIsMoreThanOneLikeIt holds "every part of X" to refuse one thing whose name has X in it.
func TestAllOfAThingIsMoreThanOneLikeIt(t *testing.T) {
	l := newList("Feed the cat", "Drum belt", "Wash the car")
	if out, err := plan.Run(t.Context(), plan.Config{Page: l, Intent: "Delete every entry of the drum", NoSuggestion: true,
		Trace: func(line string) { t.Log(line) }}); err == nil || !slices.Contains(l.tasks, "Drum belt") {
		t.Errorf("%v: %v %+v", l.did, err, out.Reasoning)
	}
}
