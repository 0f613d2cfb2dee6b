package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What a list had holds for its element on its page, until something else is chosen beside it.
func TestRememberedOptions(t *testing.T) {
	for _, c := range []struct {
		name             string
		url, ref         string
		land, town, trip string
		known            int
	}{
		{"nothing happened", "http://page/", "town", "Peru", "", "", 2},
		{"something is typed", "http://page/", "town", "Peru", "", "Hike", 2},
		{"it is chosen from", "http://page/", "town", "Peru", "Lima", "", 2},
		{"another one is chosen from", "http://page/", "town", "Spain", "", "", 0},
		{"another page", "http://page/other", "town", "Peru", "", "", 0},
		{"another list of the same name", "http://page/", "town2", "Peru", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			shows := func(url, ref, land, town, trip string) *page.Model {
				s := &snapshot.Snapshot{URL: url, Lang: "en", Quiet: true, Width: 1000, Height: 800}
				for i, f := range [][3]string{{"trip", "", trip}, {"land", "", land}, {ref, "", town}} {
					n := snapshot.Node{Ref: f[0], Parent: -1, Tag: "div", Role: "combobox", Value: f[2], HasValue: true,
						Interactive: true, Box: [4]int{10, 10 + 30*i, 300, 20}}
					if f[0] == "trip" {
						n.Tag, n.Type, n.Role, n.Editable = "input", "text", "textbox", true
					}
					s.Nodes = append(s.Nodes, n)
				}
				return page.New(s)
			}
			before := shows("http://page/", "town", "Peru", "", "")
			p := &planner{lists: map[string][]string{listName(before, 2): {"Lima", "Cusco"}}}
			now := shows(c.url, c.ref, c.land, c.town, c.trip)
			require.Equal(t, "choice", now.Fields[2].Kind, fmt.Sprint(now.Fields))
			p.forgetDependent(before, now)
			p.recallLists(now)
			require.Len(t, now.Fields[2].Options, c.known)
		})
	}
	p := &planner{lists: map[string][]string{"a": nil}, model: &page.Model{}}
	p.forgetLists()
	require.Empty(t, p.lists)
	require.Nil(t, p.model, "what is claimed is looked at anew")
}
