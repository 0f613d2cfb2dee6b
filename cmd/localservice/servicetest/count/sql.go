package count

import (
	"context"
	"database/sql/driver"
	"strings"
)

// Connector returns a connector whose connections are counted. The driver must have all
// that lib/pq has.
func (c *Counter) Connector(next driver.Connector) driver.Connector {
	return connector{next, c}
}

func (c *Counter) statement(text string) {
	c.add(func(a *Asked) *[]string { return &a.SQL }, strings.Join(strings.Fields(text), " "))
}

type connector struct {
	driver.Connector
	counter *Counter
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	next, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return conn{next.(whole), c.counter}, nil
}

// whole is a connection with all that database/sql asks for when it is there. A wrapper
// that lost a part of it would change what is sent.
type whole interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type conn struct {
	whole
	counter *Counter
}

// ExecContext implements driver.ExecerContext.
func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.counter.statement(query)
	return c.whole.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.counter.statement(query)
	return c.whole.QueryContext(ctx, query, args)
}

// PrepareContext implements driver.ConnPrepareContext. A copy counts once, for its rows
// are no round trips.
func (c conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	copies := strings.HasPrefix(strings.ToLower(strings.TrimSpace(query)), "copy ")
	if copies {
		c.counter.statement(query)
	} else {
		c.counter.statement("prepare " + query)
	}
	s, err := c.whole.PrepareContext(ctx, query)
	if err != nil || copies {
		return s, err
	}
	return stmt{s.(wholeStmt), query, c.counter}, nil
}

// BeginTx implements driver.ConnBeginTx.
func (c conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.counter.statement("begin")
	t, err := c.whole.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return tx{t, c.counter}, nil
}

type tx struct {
	driver.Tx
	counter *Counter
}

// Commit implements driver.Tx.
func (t tx) Commit() error {
	t.counter.statement("commit")
	return t.Tx.Commit()
}

// Rollback implements driver.Tx.
func (t tx) Rollback() error {
	t.counter.statement("rollback")
	return t.Tx.Rollback()
}

type wholeStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	wholeStmt
	query   string
	counter *Counter
}

// ExecContext implements driver.StmtExecContext.
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.counter.statement(s.query)
	return s.wholeStmt.ExecContext(ctx, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.counter.statement(s.query)
	return s.wholeStmt.QueryContext(ctx, args)
}
