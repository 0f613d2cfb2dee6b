package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// A description of which an element has one word is not that element's, and of two things
// that say the same neither is deleted.
func TestWhatIsNotExplainedIsRefused(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ page, reason string }{
		"Check that the Classics carousel slide of Dust and Honey is visible": {"heading \"Classics\"\nbutton \"Next\"", "carousel"},
		"Sign up without accepting the house rules":                           {"button \"Sign up\"\ncheckbox \"Newsletter\"", "house"},
		"Cherche « Agnes » et vérifie que sa cotisation est open":             {"table\n  row\n    cell \"Agnes Falk\"\n    cell \"paid\"", "cotisation"},
		"Delete the message of Ana": {"list\n  listitem\n    text \"Ana Duarte\"\n    button \"Delete\"\n" +
			"  listitem\n    text \"Ana Duarte\"\n    button \"Delete\"", ""},
	} {
		f := newFakePage(t, c.page)
		_, err := Run(context.Background(), Config{Page: f, MaxSteps: 9, Clauses: intent.Read(text, intent.Options{}).Clauses})
		var not *NotUnderstoodError
		require.ErrorAs(t, err, &not, text)
		require.Contains(t, err.Error(), c.reason, text)
		require.Empty(t, f.did, text)
	}
}

// Words of the grammar, of the element, and of what it is in need no explanation.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	v := newView(outline(t, "list\n  listitem\n    text \"Ann Smith, Oslo\"\n    button \"Remove\"\nbutton \"Checkout\""))
	at := func(role, name string) int {
		for i := range v.Nodes {
			if v.Nodes[i].Role == role && v.Nodes[i].Name == name {
				return i
			}
		}
		t.Fatalf("no %s %q", role, name)
		return -1
	}
	for _, c := range []struct {
		phrase, role, name string
		want               []string
	}{
		{"the remove button in the row of Ann Smith", "button", "Remove", nil},
		{"Smiths of Oslo", "button", "Remove", nil},
		{"the blue basket symbol", "button", "Checkout", nil},
		{"the basket of the neighbour's shop", "button", "Checkout", []string{"basket", "neighbour", "shop"}},
	} {
		require.Equal(t, c.want, unexplained(v, &intent.Phrase{Text: c.phrase}, "en", at(c.role, c.name)), c.phrase)
	}
}
