package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// What a sentence certainly says must be in what was understood.
func TestLost(t *testing.T) {
	t.Parallel()
	fill := func(target, value string) intent.Reading {
		p := phraseOf(target)
		return intent.Reading{Instructions: []intent.Instruction{{Kind: intent.Fill, Target: &p, Values: []intent.Value{{Text: value}}}}}
	}
	for _, c := range []struct {
		text    string
		reading intent.Reading
		lost    []string
	}{
		{`Enter "Ann" as the name`, fill("name", "Ann"), nil},
		{`Enter Ida as the first name, "Main Road 5" as the street and Ulm as the town`, fill("town", "Main Road 5"), []string{"Ida", "Ulm"}},
		{`Type 4111 into the field Card number`, fill("Card number", "4111"), nil},
		{`Type 4111 into the second field, then 12`, fill("field", "4111"), []string{"12"}},
		{`Enter ann@example.com as the 2nd address.`, fill("address", "ann@example.com"), nil},
		{`Set Ann's name to {{name}} in Company A-1`, fill("name", "{{name}}"), []string{"Ann", "Company", "A-1"}},
	} {
		require.ElementsMatch(t, c.lost, lost(&intent.Clause{Text: c.text, Lang: "en"}, &c.reading), c.text)
	}
	clauses := []intent.Clause{{Text: "click Pay"}}
	require.Equal(t, []string{"4111"}, dropped("1. In the frame enter 4111 and\n2. click Pay", clauses, nil))
	require.Empty(t, dropped("1. click Pay", clauses, nil))
}

// A sentence that was read in part does nothing at all.
func TestRunRefusesWhatItReadInPart(t *testing.T) {
	t.Parallel()
	f := newFakePage(t, "textbox \"Town\"\nbutton \"Submit\"")
	town := phraseOf("town")
	_, err := Run(context.Background(), Config{Page: f, MaxSteps: 9, Clauses: []intent.Clause{{Text: `Enter Ida as the name and "Ulm" as the town`, Lang: "en",
		Readings: []intent.Reading{{Prior: 1, Instructions: []intent.Instruction{{Kind: intent.Fill, Target: &town, Values: []intent.Value{{Text: "Ulm"}}}}}}}}})
	var not *NotUnderstoodError
	require.ErrorAs(t, err, &not)
	require.Contains(t, not.Reason, "Ida")
	require.Empty(t, f.did)
}
