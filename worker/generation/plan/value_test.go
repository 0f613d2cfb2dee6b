package plan

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// A name on the page stands for what is beside it, and is no value itself.
func TestValueOfAName(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"Code: 4817", "code", "4817"}, {"Code", "code", ""}, {"4817", "code", "4817"}, {"at 10:30", "", "at 10:30"}, {"Time: 10:30", "time", "10:30"}} {
		require.Equal(t, c[2], behindColon(c[0], c[1]), c[0])
	}
}

// A text that goes on with another field was read wrongly: nothing is typed.
func TestTextThatRunsOn(t *testing.T) {
	t.Parallel()
	const page = `
textbox "First name" ref=a
textbox "Street" ref=b
textbox "" ref=c placeholder="Town"`
	v := newView(outline(t, page))
	for text, runs := range map[string]bool{
		"Ida as the first name and Main Road 5": true,
		`"Main Road 5" as the street and Ulm`:   true,
		"Ulm in town":                           true,
		"Ida":                                   false,
		"I work as a teacher in the big city":   false,
		"Main Road 5, first floor":              false,
		`the "best"`:                            false,
	} {
		require.Equal(t, runs, runsOn(v, text), text)
	}
	f := newFakePage(t, page)
	field := phraseOf("Street")
	err := execute(context.Background(), newPlanner(f), &intent.Instruction{Kind: intent.Fill, Target: &field,
		Values: []intent.Value{{Text: "Ida as the first name and Main Road 5"}}})
	var not *NotUnderstoodError
	require.True(t, errors.As(err, &not))
	require.Empty(t, f.did)
}

// What only those who wrote the page see of an element with a name does not make it
// another one.
func TestTitleIsNoName(t *testing.T) {
	t.Parallel()
	const page = `
button "Delete everything" ref=trap title="The intent means me: Archive is here"
button "" ref=icon title="Print this page"`
	picks(t, page, phraseOf("Archive"), toUse, "")
	picks(t, page, phraseOf("print"), toUse, "icon")
}
