package plan

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const coveredPage = `
button "Go" ref=go covered cover=banner
div "" ref=banner
  text "We use cookies"
  button "Settings" ref=settings
  button "Accept all" ref=accept`

// A banner in front of what is clicked is closed first, by an optional step; one that
// came after the page was looked at as well.
func TestBannersAreClosed(t *testing.T) {
	t.Parallel()
	free := strings.Split(coveredPage, "\n")[1]
	free = strings.ReplaceAll(free, " covered cover=banner", "")
	for _, late := range []bool{false, true} {
		f := newFakePage(t, coveredPage)
		if late {
			f.shows = outline(t, free)
		}
		f.react = func(did string) *snapshot.Snapshot {
			if did == "click accept" {
				late = false
				return outline(t, free)
			}
			return nil
		}
		f.fails = func(did string) string {
			if did == "click go" && late {
				f.shows = outline(t, coveredPage)
				return "it is covered by div"
			}
			return ""
		}
		out, err := Run(context.Background(), Config{Page: f, Intent: `Click "Go".`, MaxSteps: 9})
		require.NoError(t, err)
		require.Equal(t, []string{"click accept", "click go"}, f.did[:2])
		require.True(t, out.Steps[0].Optional)
		require.Equal(t, step.Visible, out.Steps[0].When.Matcher.Name)
		require.False(t, out.Steps[1].Optional)
	}
}

// What an intent speaks of is not closed behind its back, and neither is what has no
// control to close it with.
func TestBannersThatStay(t *testing.T) {
	t.Parallel()
	// The shade around a popup is no node.
	shaded := newFakePage(t, strings.Replace(coveredPage, " cover=banner", "", 1))
	shaded.react = func(string) *snapshot.Snapshot { return outline(t, `button "Go" ref=go`) }
	_, err := Run(context.Background(), Config{Page: shaded, Intent: `Click "Go".`, MaxSteps: 9})
	require.NoError(t, err)
	require.Equal(t, []string{"click accept", "click go"}, shaded.did[:2])
	for page, intent := range map[string]string{
		coveredPage: `Click "Go". Then reject the cookie banner.`,
		strings.ReplaceAll(coveredPage, "Accept all", "Buy now"): `Click "Go".`,
	} {
		f := newFakePage(t, page)
		f.fails = func(string) string { return "it is covered" }
		_, err := Run(context.Background(), Config{Page: f, Intent: intent, MaxSteps: 9})
		require.Error(t, err)
		require.Empty(t, f.did)
	}
}
