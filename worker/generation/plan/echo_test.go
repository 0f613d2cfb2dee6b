package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page that shows what is asked for, as pages of exercises do, is not used by that.
func TestEchoIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		"text \"Click on the link \\\"ornare\\\".\" ref=task\nlink \"ornare\" ref=link",
		"div \"\" ref=task\n  text \"Click on the link \\\"\"\n  text \"ornare\" ref=piece\n  text \"\\\".\"\ntext \"ornare\" ref=link reacts",
		"heading \"Task: click on the link ornare!\" ref=task\ndiv \"\"\n  text \"lorem\"\n  text \"ornare\" ref=link reacts\n  text \"ipsum\"",
	} {
		f := newFakePage(t, page)
		_, err := Run(context.Background(), Config{Page: f, Intent: `Click on the link "ornare".`, MaxSteps: 5})
		require.NoError(t, err, page)
		require.Equal(t, "click link", f.did[0], page)
	}
	// A long name is no sentence.
	f := newFakePage(t, "text \"Click on\" ref=x\nbutton \"the link that opens the shop\" ref=shop")
	_, err := Run(context.Background(), Config{Page: f, Intent: `Click on "the link that opens the shop".`, MaxSteps: 5})
	require.NoError(t, err)
	require.Equal(t, "click shop", f.did[0])
}
