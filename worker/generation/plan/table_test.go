package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

const peopleTable = `
table table=t ref=t
  row
    columnheader "Name" table=t
    columnheader "Age" table=t
  row
    cell "Ann" table=t column=Name
    cell "41" table=t column=Age ref=annAge
  row
    cell "Ann Stone" table=t column=Name
    cell table=t column=Age ref=stoneAge
      textbox "Age" value="29" ref=stoneField
`

// peopleView is the table with the rows numbered, as a page has them.
func peopleView(t *testing.T) *view {
	s := outline(t, peopleTable)
	row, column := -1, 0
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; n.Role {
		case "row":
			row, column = row+1, 0
		case "cell", "columnheader":
			n.Row, n.Column = row, column
			column++
		}
	}
	return newView(s)
}

func TestValueCell(t *testing.T) {
	v := peopleView(t)
	inRow := intent.Phrase{Roles: []string{"row", "listitem"}, Relations: []intent.Relation{{Kind: intent.Of, Phrase: phraseOf("Ann")}}}
	for name, test := range map[string]struct {
		phrase intent.Phrase
		ref    string
	}{
		"of a name":              {related(phraseOf("age"), intent.Of, phraseOf("Ann")), "annAge"},
		"in the row of a name":   {related(phraseOf("Age"), intent.In, inRow), "annAge"},
		"of a longer name":       {related(phraseOf("age"), intent.Of, phraseOf("ann stone")), "stoneAge"},
		"of nobody":              {related(phraseOf("age"), intent.Of, phraseOf("Stone")), ""},
		"of no column":           {related(phraseOf("height"), intent.Of, phraseOf("Ann")), ""},
		"of no row":              {phraseOf("age"), ""},
		"that a column is under": {related(phraseOf("age"), intent.Under, phraseOf("Ann")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := v.valueCell(&test.phrase)
			if test.ref == "" {
				require.Equal(t, -1, at)
				return
			}
			require.GreaterOrEqual(t, at, 0)
			require.Equal(t, test.ref, v.Nodes[at].Ref)
		})
	}
	require.Equal(t, "stoneField", v.Nodes[fieldIn(v, v.find("stoneAge"))].Ref)
	require.Equal(t, "annAge", v.Nodes[fieldIn(v, v.find("annAge"))].Ref)
}

// A cell is found by its row and place, so that the test fails where it has another value.
func TestCellSelector(t *testing.T) {
	v := peopleView(t)
	owner := phraseOf("Ann")
	s := cellSelector(v, v.find("annAge"), &owner)
	require.NotNil(t, s)
	require.Equal(t, 1, *s.Index)
	require.Equal(t, "Ann", s.Within.Has.Name)
	require.True(t, s.Within.Has.Exact)
	require.Empty(t, s.Name)
}

func TestCellsBelow(t *testing.T) {
	v := peopleView(t)
	header := columnOf(v, "age", -1)
	require.GreaterOrEqual(t, header, 0)
	require.Equal(t, []int{v.find("annAge"), v.find("stoneAge")}, cellsBelow(v, header))
	require.Equal(t, -1, columnOf(v, "height", -1))
}

// What stands between a name and its value does not need a pattern that no step may have.
func TestBelongsIsAPattern(t *testing.T) {
	for text, holds := range map[string]bool{"Total: $ 12.50": true, "Total (12.50)": true, "Total: 112.50": false, "Total of 12.50": false, "Subtotal 12.50": false, "Total: 12.501": false} {
		pattern, err := step.Pattern(belongs("total", "12.50"))
		require.NoError(t, err)
		require.Equal(t, holds, pattern.MatchString(text), text)
	}
}

// Rows are selected by the box in each, and all of them by the box of the header.
func TestRowBoxes(t *testing.T) {
	page := `
table table=t ref=t
  row ref=header
    columnheader table=t
      checkbox "Everyone" ref=all
    columnheader "Name" table=t
  row ref=first
    cell table=t
      checkbox ref=annBox
    cell "Ann" table=t
  row ref=second
    cell table=t
      checkbox ref=bobBox
    cell "Bob" table=t
`
	f := newFakePage(t, page)
	p := newPlanner(f)
	v := newView(f.shows)
	row := func(name string) intent.Phrase {
		return intent.Phrase{Roles: []string{"row", "listitem"}, Relations: []intent.Relation{{Kind: intent.Of, Phrase: phraseOf(name)}}}
	}
	refs := func(phrase intent.Phrase) (list []string) {
		for _, m := range rowBoxes(p, v, &phrase) {
			list = append(list, m.ref)
		}
		return list
	}
	both := row("Ann")
	both.Others = []intent.Phrase{row("Bob")}
	require.Equal(t, []string{"bobBox"}, refs(row("Bob")))
	require.Equal(t, []string{"annBox", "bobBox"}, refs(both))
	require.Equal(t, []string{"all"}, refs(intent.Phrase{Roles: []string{"row"}, All: true}))
	require.Empty(t, refs(phraseOf("Ann")))
	require.Empty(t, refs(row("Carla")))
}
