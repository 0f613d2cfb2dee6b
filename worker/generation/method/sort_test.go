package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestSaysOrder(t *testing.T) {
	cheapest := &intent.Description{Extreme: &intent.Extreme{Measure: "price"}}
	for _, c := range []struct {
		name, after  string // of what is pressed, before and after
		measure      *intent.Description
		rises, falls bool
	}{
		{name: "Price: low to high", rises: true},
		{name: "Price: high to low", falls: true},
		{name: "Preis absteigend", falls: true},
		{name: "Price ↑", rises: true},
		{name: "Cheapest first", rises: true},
		{name: "Cheapest", measure: cheapest, rises: true},
		{name: "Cheapest"}, // of no measure that was asked for
		{name: "Price"},
		{name: "Sort descending", after: "Sort ascending"}, // what it does, or what it did
	} {
		before := nodes(button("b", "", c.name))
		now := before
		if c.after != "" {
			now = nodes(button("b", "", c.after))
		}
		value := c.name
		list := nodes(snapshot.Node{Ref: "s", Tag: "select", Role: "combobox", Options: []snapshot.Option{{Label: c.name, Value: "1"}}})
		for _, falls := range []bool{false, true} {
			g := &intent.Goal{Effect: intent.Sort, Measure: c.measure, Descending: falls}
			want := c.rises && !falls || c.falls && falls
			if got := method.SaysOrder(before, now, &method.Way{Acts: []method.Act{method.Press(0)}}, g); got != want {
				t.Errorf("%q, falling %v: %v, want %v", c.name, falls, got, want)
			}
			choose := method.Act{Tool: step.Select, Node: 0, To: -1, Args: step.Args{OptionValue: &value}}
			if got := method.SaysOrder(list, list, &method.Way{Acts: []method.Act{choose}}, g); c.after == "" && got != want {
				t.Errorf("option %q, falling %v: %v, want %v", c.name, falls, got, want)
			}
		}
	}
}
