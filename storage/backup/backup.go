// Package backup reads what a backup needs of the database: one state of it, by which a
// dump and the list of the objects agree, and whether a database is empty.
//
// Session holds the deletion of objects up for as long as it lives. Its snapshot is what
// pg_dump --snapshot takes, and the same transaction lists the objects that the rows
// name; so the dump names exactly these. The transaction ends before the objects are
// copied, so that a long copy does not keep the database from cleaning up.
package backup

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/removal"
)

// Session is a connection that a backup keeps.
type Session struct {
	conn *sqlx.Conn
	// Snapshot is for pg_dump --snapshot, until EndSnapshot.
	Snapshot string
}

// Begin holds up the deletion of objects and takes a snapshot.
func Begin(ctx context.Context, db *storage.DB) (_ *Session, err error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return nil, storage.Wrap(err, "begin backup")
	}
	s := &Session{conn: conn}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	// A dump of a large database takes longer than a statement of a request may.
	for _, statement := range []string{`set statement_timeout = 0`, `set idle_in_transaction_session_timeout = 0`} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return nil, storage.Wrap(err, "begin backup")
		}
	}
	if err := removal.Hold(ctx, querier{conn}); err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, `begin isolation level repeatable read read only`); err != nil {
		return nil, storage.Wrap(err, "begin backup")
	}
	if err := conn.GetContext(ctx, &s.Snapshot, `select pg_export_snapshot()`); err != nil {
		return nil, storage.Wrap(err, "export snapshot")
	}
	return s, nil
}

// querier is a connection as a storage.Querier.
type querier struct{ *sqlx.Conn }

// named are the columns that name objects; a test compares them with the schema. Objects
// that nothing but a mail names (its icon) belong to the files of builds.
var named = []struct{ table, column string }{
	{"files", "object_key"}, {"crash_attachments", "object_key"}, {"run_files", "object_key"},
	{"generation_files", "object_key"}, {"test_baselines", "object_key"}, {"symbol_files", "index_key"}, {"feedbacks", "screenshot_key"},
}

// Keys calls each with the key of every object that a row of the snapshot names, once,
// in byte order.
func (s *Session) Keys(ctx context.Context, each func(key string) error) error {
	var parts []string
	for _, n := range named {
		parts = append(parts, fmt.Sprintf(`select %s collate "C" as key from %s where %[1]s <> ''`, n.column, n.table))
	}
	rows, err := s.conn.QueryxContext(ctx, strings.Join(parts, ` union `)+` order by key`)
	if err != nil {
		return storage.Wrap(err, "list objects")
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return storage.Wrap(err, "list objects")
		}
		if err := each(key); err != nil {
			return err
		}
	}
	return storage.Wrap(rows.Err(), "list objects")
}

// Facts are what a manifest says of the database.
type Facts struct {
	Schema int64 `db:"schema"`
	// Server is the major version of PostgreSQL.
	Server        int   `db:"server"`
	Organizations int64 `db:"organizations"`
	Users         int64 `db:"users"`
	Builds        int64 `db:"builds"`
	Crashes       int64 `db:"crashes"`
	TestCases     int64 `db:"test_cases"`
	Tasks         int64 `db:"tasks"`
}

// FactsOf counts.
func FactsOf(ctx context.Context, q storage.Querier) (Facts, error) {
	var f Facts
	err := q.GetContext(ctx, &f, `select (select max(version_id) from goose_db_version where is_applied) as schema,
		current_setting('server_version_num')::int / 10000 as server,
		(select count(*) from organizations) as organizations, (select count(*) from users) as users,
		(select count(*) from builds) as builds, (select count(*) from crashes) as crashes,
		(select count(*) from test_cases) as test_cases, (select count(*) from tasks) as tasks`)
	return f, storage.Wrap(err, "facts of the database")
}

// Facts are those of the snapshot.
func (s *Session) Facts(ctx context.Context) (Facts, error) { return FactsOf(ctx, querier{s.conn}) }

// EndSnapshot ends the transaction. Deletion of objects stays held up.
func (s *Session) EndSnapshot(ctx context.Context) error {
	_, err := s.conn.ExecContext(ctx, `commit`)
	return storage.Wrap(err, "end snapshot")
}

// Close ends the session: its pool must be closed too, since the hold ends with the
// connection.
func (s *Session) Close() { _ = s.conn.Close() }

// Empty reports whether the database has no table of its own.
func Empty(ctx context.Context, q storage.Querier) (bool, error) {
	var empty bool
	err := q.GetContext(ctx, &empty, `select not exists (select from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
		and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e'))`)
	return empty, storage.Wrap(err, "look for tables")
}

// InUse returns the processes of the product that are connected to the database, by
// their names in pg_stat_activity.
func InUse(ctx context.Context, q storage.Querier) ([]string, error) {
	names := []string{}
	err := q.SelectContext(ctx, &names, `select distinct application_name from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()
		and application_name ~ '^slipway-(api|worker|scheduler|up)' order by 1`)
	return names, storage.Wrap(err, "processes of the database")
}
