package storage_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
)

// Every connection has its bounds, also through a pooler that refuses clients which ask for
// them in their first message. The URL's own bounds win.
func TestConnectionsHaveBounds(t *testing.T) {
	t.Parallel()
	direct := servicetest.DatabaseURL(t)
	for _, c := range []struct {
		name, url, statement, idle string
		more                       url.Values
	}{
		{name: "direct", url: direct, statement: "7s", idle: "5s"},
		{name: "PgBouncer by session", url: servicetest.PgBouncer(t, direct, "session"), statement: "7s", idle: "5s"},
		{name: "PgBouncer by transaction", url: servicetest.PgBouncer(t, direct, "transaction"), statement: "7s", idle: "5s"},
		{name: "from the URL", url: direct, statement: "3s", idle: "0",
			more: url.Values{"statement_timeout": {"3000"}, "idle_in_transaction_session_timeout": {"0"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(c.url)
			require.NoError(t, err)
			q := u.Query()
			for name, values := range c.more {
				q[name] = values
			}
			u.RawQuery = q.Encode()
			db, err := storage.Open(storage.Config{URL: u.String(), MaxConns: 3, StatementTimeout: 7 * time.Second})
			require.NoError(t, err)
			defer db.Close()
			for range 3 {
				tx, err := db.Beginx() // each has a connection of its own
				require.NoError(t, err)
				defer func() { _ = tx.Rollback() }()
				var statement, idle, zone, name string
				require.NoError(t, tx.QueryRow(`select current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
					current_setting('timezone'), current_setting('application_name')`).Scan(&statement, &idle, &zone, &name))
				require.Equal(t, []string{c.statement, c.idle, "UTC", "slipway"}, []string{statement, idle, zone, name})
			}
		})
	}
}
