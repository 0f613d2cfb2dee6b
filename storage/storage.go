// Package storage is the way to PostgreSQL: the connection pool, transactions
// and the errors that callers decide on. The stores in its sub-folders hold all
// SQL of Slipway, written by hand, a file for each aggregate.
//
// A use case is a function of a store, Verb(ctx, tx, ...) where it writes and
// Verb(ctx, q, ...) where it reads. The caller opens the transaction with InTx and
// hands the Tx to as many stores as it needs, so that domain rows, audit rows and
// ledger rows are committed together or not at all; whoever writes the domain rows
// writes the audit row as well. Reads outside a transaction go through DB itself;
// both satisfy Querier. A store has a type only for state between calls, such as the
// buffers of a compressor.
//
// Every statement runs under its context's deadline, and every connection has a
// statement_timeout as a last check. Errors of the driver are turned into
// ErrNotFound, ErrConflict or ErrUnavailable where they mean that; the rest are
// passed up wrapped and end as an internal error.
package storage

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// Querier is what a query needs; *DB and *Tx are both.
type Querier interface {
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error)
}

// DB is a pool of connections.
type DB struct {
	*sqlx.DB
	tokensChanged *observers
}

// observers are functions that are called after commits.
type observers struct {
	mu  sync.RWMutex
	fns []func()
}

func (o *observers) call() {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, fn := range o.fns {
		fn()
	}
}

// Tx is one transaction.
type Tx struct {
	*sqlx.Tx
	db        *DB
	committed []func()
}

// AfterCommit has fn called when the transaction has been committed, and never when it
// was rolled back or the outcome of the commit is unknown.
func (tx *Tx) AfterCommit(fn func()) { tx.committed = append(tx.committed, fn) }

// OnTokensChanged has fn called in this process after each commit that ended tokens of
// apps, before the one who asked for it is answered. Other processes hear of it by a
// notification (TokenChannel).
func (db *DB) OnTokensChanged(fn func()) {
	db.tokensChanged.mu.Lock()
	defer db.tokensChanged.mu.Unlock()
	db.tokensChanged.fns = append(db.tokensChanged.fns, fn)
}

// TokenChannel is where the database notifies of tokens of apps (crash and SDK tokens)
// that ended or changed. The payload is the digest in hex.
const TokenChannel = "slipway_tokens"

// TokensChanged says that the transaction ends tokens of apps.
func (tx *Tx) TokensChanged() { tx.AfterCommit(tx.db.tokensChanged.call) }

// CommitLater lets the transaction commit without waiting for the disk: all of it
// takes effect, or, when the database's machine dies within about half a second, none.
// For work that is done again when it is lost, never for what somebody was promised.
func (tx *Tx) CommitLater(ctx context.Context) error {
	_, err := tx.ExecContext(ctx, `set local synchronous_commit = off`)
	return Wrap(err, "commit later")
}

// CommitNow takes CommitLater back: the commit waits for the disk.
func (tx *Tx) CommitNow(ctx context.Context) error {
	_, err := tx.ExecContext(ctx, `set local synchronous_commit = on`)
	return Wrap(err, "commit now")
}

// Config states where the database is and how much of it a process may use.
type Config struct {
	URL      string // postgres://user:password@host:port/name
	MaxConns int    // default 20
	// StatementTimeout ends a statement that its context did not; default 60 s.
	StatementTimeout time.Duration
	// ApplicationName appears in pg_stat_activity; default "slipway".
	ApplicationName string
	// WrapConnector, if set, stands between the pool and its connections: a test counts
	// their statements with it.
	WrapConnector func(driver.Connector) driver.Connector
}

// Open creates the pool; it does not connect (Check does).
func Open(cfg Config) (*DB, error) {
	connector, err := cfg.connector()
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	conns := cfg.MaxConns
	if conns <= 0 {
		conns = 20
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{sqlx.NewDb(db, "postgres"), &observers{}}, nil
}

// dsn returns the URL for the driver, and the settings that are not part of it.
func (cfg Config) dsn() (string, sessionSettings, error) {
	settings := sessionSettings{statementTimeout: cfg.StatementTimeout, idleTimeout: 5 * time.Second}
	if settings.statementTimeout <= 0 {
		settings.statementTimeout = time.Minute
	}
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", settings, &InvalidError{Field: "database URL", Msg: "must be postgres://user:password@host:port/name"}
	}
	q := u.Query()
	set := func(name, value string) {
		if !q.Has(name) {
			q.Set(name, value)
		}
	}
	name := cfg.ApplicationName
	if name == "" {
		name = "slipway"
	}
	// What leaves the machine is encrypted unless the URL says otherwise.
	set("sslmode", "require")
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() == "localhost" || err == nil && ip.IsLoopback() {
		q.Set("sslmode", cmp.Or(u.Query().Get("sslmode"), "disable"))
	}
	// Parameters go out in binary form: bytea unescaped, and no round trip to
	// prepare a statement.
	set("binary_parameters", "yes")
	set("application_name", name)
	set("connect_timeout", "5")
	set("timezone", "UTC")
	if err := settings.takeSettings(q); err != nil {
		return "", settings, err
	}
	u.RawQuery = q.Encode()
	return u.String(), settings, nil
}

// scrubURL keeps a password out of the driver's message.
func scrubURL(err error, raw string) string {
	return strings.ReplaceAll(err.Error(), raw, "(redacted)")
}

// Check returns nil when the database responds to a query.
func (db *DB) Check(ctx context.Context) error {
	var one int
	return Wrap(db.GetContext(ctx, &one, "select 1"), "query the database")
}

// ServerMajor returns the major version of the server.
func (db *DB) ServerMajor(ctx context.Context) (int, error) {
	var number int
	err := db.GetContext(ctx, &number, `select current_setting('server_version_num')::int`)
	return number / 10000, Wrap(err, "version of the database")
}

// InTx runs fn in a transaction and commits it; an error or a panic of fn rolls
// it back. The error of a failed commit is an *UnknownOutcomeError when the
// connection broke: the transaction may have been committed.
func (db *DB) InTx(ctx context.Context, fn func(*Tx) error) error {
	begun, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return Wrap(err, "begin")
	}
	tx := &Tx{Tx: begun, db: db}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if isConnection(err) || ctx.Err() != nil {
			return &UnknownOutcomeError{Err: err}
		}
		return Wrap(err, "commit")
	}
	for _, fn := range tx.committed {
		fn()
	}
	return nil
}

// SelectSingleStatement runs one statement that commits by itself, in a single round
// trip, and reads its rows into dest. Unlike SelectContext it never sends the
// statement twice: a connection that breaks on the way is an *UnknownOutcomeError. A
// statement that was not sent, because no connection could be had, is ErrUnavailable.
func (db *DB) SelectSingleStatement(ctx context.Context, dest any, query string, args ...any) error {
	conn, err := db.Connx(ctx)
	if err != nil {
		return Wrap(err, "connect")
	}
	defer conn.Close()
	err = conn.SelectContext(ctx, dest, query, args...)
	if err != nil && (isConnection(err) || ctx.Err() != nil) {
		return &UnknownOutcomeError{Err: err}
	}
	return err
}

// Savepoint runs fn inside the transaction so that its error undoes only what fn
// wrote. When the connection itself is lost, the transaction is.
func (tx *Tx) Savepoint(ctx context.Context, fn func() error) error {
	if _, err := tx.ExecContext(ctx, "savepoint part"); err != nil {
		return Wrap(err, "savepoint")
	}
	if err := fn(); err != nil {
		if _, rerr := tx.ExecContext(ctx, "rollback to savepoint part; release savepoint part"); rerr != nil {
			return Wrap(rerr, "roll back to savepoint after "+err.Error())
		}
		return err
	}
	_, err := tx.ExecContext(ctx, "release savepoint part")
	return Wrap(err, "release savepoint")
}
