package reading_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestSimilarGroups(t *testing.T) {
	t.Parallel()
	r := open(t)
	second := r.Org.CrashProject("second")
	with := func(key, title, culprit, classifier string, functions ...string) crash.Crash {
		return r.Made(func(c *crash.Crash) {
			g := crashtest.Grouping(key)
			g.Title, g.Culprit, g.Classifier, g.Functions = title, culprit, classifier, functions
			c.Group = g
		})
	}
	stack := []string{"shop.Cart.price", "shop.Cart.total", "shop.Checkout.pay", "main.run"}
	elsewhere := with("elsewhere", "E: no price for 7", "shop.Cart.price", "E", stack...)
	elsewhere.ProjectID = second
	r.Record(
		with("one", "E: no price for 7", "shop.Cart.price", "E", stack...),
		with("alike", "E: no price for 8", "shop.Cart.price", "E", "shop.Cart.price", "shop.Cart.total", "shop.Basket.pay", "main.run"),
		with("caller", "Timeout: too slow", "shop.Cart.total", "Timeout", "net.read", "shop.Cart.total", "shop.Checkout.pay", "main.run"),
		with("other", "OOM: no memory", "media.decode", "OOM", "media.decode", "main.run"),
		with("message", "E: no prize won today", "", "E"),
		elsewhere)
	list, err := reading.SimilarGroups(t.Context(), r.DB, r.Org.ID, r.Group("one").ID)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	require.Equal(t, r.Group("alike").ID, list[0].ID)
	require.Greater(t, list[0].Score, 0.7)
	require.Equal(t, reading.SimilarReason{What: "functions", Shared: []string{"shop.Cart.price", "shop.Cart.total", "main.run"},
		Of: 5}, list[0].Reasons[0])
	for _, s := range list {
		require.NotEqual(t, r.Group("other").ID, s.ID)
		require.NotEqual(t, "elsewhere", s.Title)
		require.NotEmpty(t, s.Reasons)
	}
	_, err = reading.SimilarGroups(t.Context(), r.DB, r.Rival.ID, r.Group("one").ID)
	require.Error(t, err)

	// Of messages without a stack the words decide.
	r.Record(with("first", "could not reach server 17", "", "Log"), with("second", "could not reach server 22", "", "Log"))
	list, err = reading.SimilarGroups(t.Context(), r.DB, r.Org.ID, r.Group("first").ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, r.Group("second").ID, list[0].ID)
}
