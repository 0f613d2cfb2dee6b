package widgettest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
)

// Sentences on widgets of libraries: what they log says whether it was done.
func TestLibraryWidgets(t *testing.T) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	for _, c := range []struct{ page, text, log string }{
		{"jqueryui.html?datepicker", `Select 2030-03-17 as the Date`, "picked 2030-03-17"},
		{"jqueryui.html?datemenu", `Choose December 5, 2035 as the Date`, "picked 2035-12-05"},
		{"jqueryui.html?autocomplete", `Choose "Bergen" as the City`, "chose Bergen"},
		{"jqueryui.html?selectmenu", `Select Fast from the Speed list`, "speed Fast"},
		{"jqueryui.html?checkboxradio", `Check Agree and select Large`, "c true, l true"},
		{"jqueryui.html?sortable", `Drag Apples below Plums`, "Pears Plums Apples Cherries"},
		{"jqueryui.html?modal", `Click Open and close the dialog`, "closed"},
		{"antd.html?select", `Select "Name 3" from the list`, "v3"},
		{"antd.html?search", `Select "Name 777" from the list`, "v777"},
		{"antd.html?date", `Select 2030-01-17`, "2030-01-17"},
		{"antd.html?date", `Select 2031-05-06 as the date`, "2031-05-06"},
		{"antd.html?slider", `Set the slider to 33`, "31, 32, 33"},
		{"antd.html?number", `Set the number to 8`, "8"},
		{"flatpickr.html?date", `Choose 2030-03-05 as the date`, "2030-03-05"},
		{"flatpickr.html?inline", `Choose 2030-03-05`, "2030-03-05"},
		{"elementplus.html?date", `Pick 2030-03-09 as the date`, "2030-03-09"},
		{"elementplus.html?slider", `Set the slider to 42`, "34, 38, 42"},
		{"shoelace.html?select", `Select Pear as Fruit`, "pear"},
		{"shoelace.html?radio", `Select Large`, "l"},
		{"shoelace.html?range", `Set the Volume to 8`, "8"},
		{"shoelace.html?checkbox", `Check Agree and turn on Wi-Fi`, "agree true, wifi true"},
		{"select2.html?single", `Select "Name 150" from the list`, "v150"},
		{"html.html?select", `Choose Red as the Color`, "input, change r"},
		{"html.html?confirm", `Click Delete and accept the alert`, "deleted"},
		{"html.html?switch", `Turn on the switch`, "on"},
	} {
		t.Run(c.page+" "+c.text, func(t *testing.T) {
			t.Parallel()
			r := write(t, site.BaseURL()+"/"+c.page, c.text)
			t.Log(r.steps())
			require.NoError(t, r.err)
			r.shows(t, "#log", c.log)
		})
	}
}
