package widgets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

func TestWidgetsAreChosen(t *testing.T) {
	t.Parallel()
	all, err := (&Command{}).choose()
	require.NoError(t, err)
	some, err := (&Command{Library: "jqueryui", Only: "sortable"}).choose()
	require.NoError(t, err)
	require.Less(t, len(some), len(all))
	require.NotEmpty(t, some)
	for _, c := range some {
		require.Equal(t, "jqueryui", c.Library)
		require.Contains(t, c.Name, "sortable")
	}
	_, err = (&Command{Library: "none"}).choose()
	require.Error(t, err)
}

func TestWidgetRuns(t *testing.T) {
	t.Parallel()
	var r widgetRuns
	require.Empty(t, r.summary(0))
	r.add(10, "")
	require.Equal(t, "as expected", r.summary(0))
	r.add(20, "covered")
	r.add(30, "covered")
	require.Equal(t, "**2 of 3 wrong**", r.summary(0))
	require.Equal(t, []string{"covered"}, r.verdicts, "each once")
	require.Equal(t, map[string]int{"covered": 2}, r.counts)
	require.Equal(t, "otherwise, by design", r.summary(1))
}

// The two tools run the same cases on the same pages.
func TestWidgetsBesidePlaywright(t *testing.T) {
	t.Parallel()
	browser, err := localservice.Find(localservice.Chromium)
	require.NoError(t, err)
	rows, err := (&Command{Rounds: 1, Library: "quill", Tool: "both", Chrome: browser.Path}).measure(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	for _, r := range rows {
		require.Empty(t, r.slipway.verdicts, r.test.FullName())
		require.Empty(t, r.theirs.verdicts, r.test.FullName())
		require.Len(t, r.slipway.times, 1)
		require.Len(t, r.theirs.times, 1)
	}
}
