package authoring

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	check := func(context.Context, string) error { return nil }
	for _, cfg := range []handler.Config{{}, {DB: &storage.DB{}}, {CheckURL: check}} {
		_, err := New(cfg)
		require.Error(t, err)
	}
	h, err := New(handler.Config{DB: &storage.DB{}, CheckURL: check, PublicURL: "https://qa.example.com/"})
	require.NoError(t, err)
	require.Equal(t, "https://qa.example.com/v1/ai-authoring/files/x", h.base.FileURL("x"))
	require.Equal(t, "", h.base.FileURL(""))
}
