package storage

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/lib/pq"
)

// sessionSettings are the parameters of a session that are set by a statement on each new
// connection. A client may also send them in its first message; PgBouncer refuses clients
// that do, by default (ignore_startup_parameters in its documentation).
//
// PgBouncer in transaction mode shares connections among sessions: there the statement
// reaches one of them. The role's own settings then stand in for it; see
// docs/deployment.md.
type sessionSettings struct {
	statementTimeout time.Duration
	// idleTimeout: a machine that freezes or vanishes inside a transaction keeps its locks
	// for this long, and with them the tasks that others should take over. No transaction
	// here waits for anything but the database.
	idleTimeout time.Duration
}

const (
	statementTimeout = "statement_timeout"
	idleTimeout      = "idle_in_transaction_session_timeout"
)

// takeSettings removes the settings from a URL's parameters, where they may stand in
// milliseconds.
func (s *sessionSettings) takeSettings(q url.Values) error {
	for name, to := range map[string]*time.Duration{statementTimeout: &s.statementTimeout, idleTimeout: &s.idleTimeout} {
		text := q.Get(name)
		if q.Del(name); text == "" {
			continue
		}
		ms, err := strconv.Atoi(text)
		if err != nil || ms < 0 {
			return &InvalidError{Field: "database URL", Msg: name + " must be a number of milliseconds"}
		}
		*to = time.Duration(ms) * time.Millisecond
	}
	return nil
}

func (s sessionSettings) statement() string {
	return fmt.Sprintf("set %s = %d; set %s = %d", statementTimeout, s.statementTimeout.Milliseconds(), idleTimeout,
		s.idleTimeout.Milliseconds())
}

// settling sets the parameters of each new connection.
type settling struct {
	driver.Connector
	settings sessionSettings
}

// Connect implements driver.Connector.
func (c settling) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	session, ok := conn.(driver.ExecerContext)
	if !ok {
		_ = conn.Close()
		return nil, errors.New("the driver takes no statements")
	}
	if _, err := session.ExecContext(ctx, c.settings.statement(), nil); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("set the session's parameters: %w", err)
	}
	return conn, nil
}

// connector returns what makes the connections, each with its parameters set, and each
// failure a *ConnectError.
func (cfg Config) connector() (driver.Connector, error) {
	dsn, settings, err := cfg.dsn()
	if err != nil {
		return nil, err
	}
	plain, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("database URL: %s", scrubURL(err, cfg.URL))
	}
	connector := reporting{Connector: settling{Connector: plain, settings: settings}, host: cfg.Host()}
	if cfg.WrapConnector != nil {
		return cfg.WrapConnector(connector), nil
	}
	return connector, nil
}
