package baseline

import (
	"errors"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
)

func TestPage(t *testing.T) {
	for _, c := range []struct {
		query string
		want  storage.Page
		wrong bool
	}{
		{"", storage.Page{Limit: 20}, false}, {"limit=5&skip=7", storage.Page{Limit: 5, Offset: 7}, false}, {"limit=0", storage.Page{}, false},
		{"limit=99999999999999999999", storage.Page{Limit: 100}, false}, {"limit=-1", storage.Page{}, true}, {"skip=x", storage.Page{}, true},
		{"skip=99999999999999999999", storage.Page{}, true},
	} {
		q, err := url.ParseQuery(c.query)
		require.NoError(t, err)
		got, err := page(q)
		var problem *respond.Problem
		require.Equal(t, c.wrong, errors.As(err, &problem), c.query)
		if !c.wrong {
			require.Equal(t, c.want, got, c.query)
		}
	}
}
