package distribution_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := testContext(t)
	put := func(org int64, c Connection) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error { return SetConnection(ctx, tx, w.actor, org, c) })
	}
	remove := func(ctx context.Context, tx *storage.Tx) error { return DeleteConnection(ctx, tx, w.actor, w.org) }
	_, err := ConnectionOf(ctx, w.db, w.org)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, w.do(remove), storage.ErrNotFound)

	s3 := Connection{Kind: "s3", Endpoint: "https://s3.example.com:9000", Bucket: "b", Region: "r", Prefix: "p/", AccessKey: "a", Secret: []byte{1, 0, 2}}
	require.NoError(t, put(w.org, s3))
	got, err := ConnectionOf(ctx, w.db, w.org)
	require.NoError(t, err)
	require.Equal(t, &s3, got)
	_, err = ConnectionOf(ctx, w.db, w.other)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.NoError(t, put(w.org, Connection{Kind: "http", Endpoint: "https://example.com/upload?x=1"}))
	got, err = ConnectionOf(ctx, w.db, w.org)
	require.NoError(t, err)
	require.Empty(t, got.Secret, "the former secret is not for another endpoint")
	for field, c := range map[string]Connection{
		"kind":     {Kind: "ftp", Endpoint: "https://example.com"},
		"bucket":   {Kind: "s3", Endpoint: "https://example.com"},
		"region":   {Kind: "s3", Endpoint: "https://example.com", Bucket: "b", Region: "\x00"},
		"secret":   {Kind: "http", Endpoint: "https://example.com", Secret: make([]byte, 9000)},
		"endpoint": {Kind: "s3", Endpoint: "https://example.com/path", Bucket: "b"},
	} {
		require.Equal(t, field, invalidField(t, put(w.org, c)))
	}
	for _, endpoint := range []string{"", "example.com", "ftp://example.com", "https://u:p@example.com", "https://", "https://a/" + strings.Repeat("x", 2048)} {
		require.Equal(t, "endpoint", invalidField(t, put(w.org, Connection{Kind: "http", Endpoint: endpoint})))
	}
	require.ErrorIs(t, put(999, s3), storage.ErrConflict)
	w.must(remove)
	require.Equal(t, 3, w.audited(account.ConnectionChanged))
}
