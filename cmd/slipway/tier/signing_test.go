package tier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/signing"
)

var installationKey = strings.Repeat("b", 48)

// registered returns a database whose installation has installationKey.
func registered(t *testing.T) *storage.DB {
	t.Helper()
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, signing.Register(t.Context(), db, seal.Ring{[]byte(installationKey)}))
	return db
}

// TestForeignKeyStopsTheTier: a tier with another signing key does not start.
func TestForeignKeyStopsTheTier(t *testing.T) {
	t.Parallel()
	db := registered(t)
	s := keyCheck{db: db}
	var err error
	for _, keys := range []seal.Ring{nil, {[]byte(strings.Repeat("o", 32))}} {
		s.keys = keys
		var mismatch *signing.MismatchError
		_, err = s.start(t.Context(), "worker")
		require.ErrorAs(t, err, &mismatch)
		require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY")
	}
	s.keys = nil
	stop, err := s.start(t.Context(), "scheduler")
	require.NoError(t, err, "a scheduler needs none")
	stop()
	s.keys = seal.Ring{[]byte(installationKey)}
	stop, err = s.start(t.Context(), "worker")
	require.NoError(t, err)
	stop()
}

// TestForeignKeyIsFoundLater: the database comes after the tier has started.
func TestForeignKeyIsFoundLater(t *testing.T) {
	t.Parallel()
	db := registered(t)
	_, err := db.ExecContext(t.Context(), `alter table signing_keys rename to away`)
	require.NoError(t, err)
	failed := make(chan error, 1)
	s := keyCheck{db: db, failed: failed, keys: seal.Ring{[]byte(strings.Repeat("o", 32))}}
	stop, err := s.start(t.Context(), "worker")
	require.NoError(t, err)
	defer stop()
	_, err = db.ExecContext(t.Context(), `alter table away rename to signing_keys`)
	require.NoError(t, err)
	select {
	case err := <-failed:
		var mismatch *signing.MismatchError
		require.ErrorAs(t, err, &mismatch)
	case <-t.Context().Done():
		t.Fatal("the process goes on with another key")
	}
}
