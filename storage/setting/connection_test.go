package setting_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/setting"
)

func TestConnection(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	put := func(org int64, c setting.Connection) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return setting.SetConnection(ctx, tx, account.CLI(), org, c)
		})
	}
	remove := func(ctx context.Context, tx *storage.Tx) error {
		return setting.DeleteConnection(ctx, tx, account.CLI(), f.Org.ID)
	}
	_, err := setting.ConnectionOf(ctx, f.DB, f.Org.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, f.Do(remove), storage.ErrNotFound)

	s3 := setting.Connection{Kind: "s3", Endpoint: "https://s3.example.com:9000", Bucket: "b", Region: "r", Prefix: "p/",
		AccessKey: "a", Secret: []byte{1, 0, 2}}
	require.NoError(t, put(f.Org.ID, s3))
	got, err := setting.ConnectionOf(ctx, f.DB, f.Org.ID)
	require.NoError(t, err)
	require.Equal(t, &s3, got)
	_, err = setting.ConnectionOf(ctx, f.DB, f.Rival.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.NoError(t, put(f.Org.ID, setting.Connection{Kind: "http", Endpoint: "https://example.com/upload?x=1"}))
	got, err = setting.ConnectionOf(ctx, f.DB, f.Org.ID)
	require.NoError(t, err)
	require.Empty(t, got.Secret, "the former secret is not for another endpoint")
	for field, c := range map[string]setting.Connection{
		"kind":     {Kind: "ftp", Endpoint: "https://example.com"},
		"bucket":   {Kind: "s3", Endpoint: "https://example.com"},
		"region":   {Kind: "s3", Endpoint: "https://example.com", Bucket: "b", Region: "\x00"},
		"secret":   {Kind: "http", Endpoint: "https://example.com", Secret: make([]byte, 9000)},
		"endpoint": {Kind: "s3", Endpoint: "https://example.com/path", Bucket: "b"},
	} {
		require.Equal(t, field, fixture.InvalidField(t, put(f.Org.ID, c)))
	}
	for _, endpoint := range []string{"", "example.com", "ftp://example.com", "https://u:p@example.com", "https://",
		"https://a/" + strings.Repeat("x", 2048)} {
		require.Equal(t, "endpoint", fixture.InvalidField(t, put(f.Org.ID, setting.Connection{Kind: "http", Endpoint: endpoint})))
	}
	require.ErrorIs(t, put(999, s3), storage.ErrConflict)
	f.Must(remove)
	require.Equal(t, 3, f.Audited(account.ConnectionChanged))
}
