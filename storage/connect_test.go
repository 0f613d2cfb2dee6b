package storage

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"
)

// What the server cannot do at the moment is unavailable, with a reason, whether a store
// has wrapped the driver's error or not; what is wrong with a statement is not.
func TestReasonsOfTheServer(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"53100": "the disk of the database is full", "53200": "the database is out of memory", "53300": "too many connections to the database",
		"25006": "the database is read-only", "58030": "the disk of the database fails", "57P03": "the database is starting up or shutting down",
	} {
		raw := fmt.Errorf("insert: %w", &pq.Error{Code: pqerror.Code(code), Message: "could not extend file"})
		require.True(t, Unavailable(raw), code)
		require.Equal(t, want, Reason(raw))
		require.ErrorIs(t, Wrap(raw, "insert"), ErrUnavailable)
		require.Equal(t, want, Reason(Wrap(raw, "insert")))
	}
	for _, code := range []string{"42601", "23505", "22001", "XX000"} {
		require.False(t, Unavailable(&pq.Error{Code: pqerror.Code(code)}), code)
	}
	require.False(t, Unavailable(nil))
	require.False(t, Unavailable(context.DeadlineExceeded))
}

// A database that cannot be connected to is unavailable, and its host is named; a caller
// who has gone says nothing of it.
func TestConnectError(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close() // accepts, and never responds
	db, err := Open(Config{URL: "postgres://u:sesame@" + listener.Addr().String() + "/d"})
	require.NoError(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = db.Check(ctx)
	require.ErrorIs(t, err, ErrUnavailable)
	require.Equal(t, "timeout", Reason(err))
	require.ErrorContains(t, err, listener.Addr().String())
	require.NotContains(t, err.Error(), "sesame")

	gone, leave := context.WithCancel(t.Context())
	leave()
	require.NotErrorIs(t, db.Check(gone), ErrUnavailable)
}
