package servicetest

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"testing"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
)

// template is the migrated database that those of tests are copies of (some 50
// ms each). It never has a connection once it is made: with one it could not be
// copied.
const template = "slipway_template"

// startPostgres starts a server and makes the template in it.
func startPostgres(ctx context.Context, folder *localservice.Folder) (*localservice.Server, error) {
	server, err := folder.Postgres(ctx, localservice.PostgresConfig{Ephemeral: true})
	if err != nil {
		return nil, err
	}
	if err := administer(ctx, server.URL(), "create database "+template); err != nil {
		return nil, err
	}
	db, err := storage.Open(storage.Config{URL: withPath(server.URL(), template)})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := storage.Migrate(ctx, db); err != nil {
		return nil, err
	}
	return server, nil
}

// DatabaseURL returns the URL of a migrated database for this test alone. It is
// dropped when the test ends.
func DatabaseURL(t testing.TB) string {
	t.Helper()
	server, err := binary.postgres.address(postgresVariable, startPostgres)
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	name := "test_" + uniqueName()
	if err := clone(t.Context(), server, name); err != nil {
		t.Fatalf("clone test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := administer(ctx, server, "drop database if exists "+name+" with (force)"); err != nil {
			t.Logf("drop test database: %v", err)
		}
	})
	return withPath(server, name)
}

// Patient returns the URL of a database for a pool whose transactions may be idle for as long
// as they like, and whose statements may take ten minutes: a test holds a transaction while it
// waits for others, and on a busy machine a process may not go on for seconds within one.
func Patient(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	q := u.Query()
	q.Set("idle_in_transaction_session_timeout", "0")
	q.Set("statement_timeout", "600000")
	u.RawQuery = q.Encode()
	return u.String()
}

// DB opens a migrated database for this test alone, with a patient pool.
func DB(t testing.TB) *storage.DB {
	t.Helper()
	db, err := storage.Open(storage.Config{URL: Patient(t, DatabaseURL(t))})
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// clone makes a database from the template. Copying its files takes half the time
// of writing them through the log, which is what PostgreSQL does by itself since it
// has the choice (15).
func clone(ctx context.Context, server, name string) error {
	statement := "create database " + name + " template " + template
	err := administer(ctx, server, statement+" strategy file_copy")
	if refusal := (*pq.Error)(nil); errors.As(err, &refusal) && refusal.Code == "42601" { // syntax_error
		err = administer(ctx, server, statement)
	}
	return err
}

// administer runs a statement on a connection that it closes again, so that the
// connections of the server are left to the tests.
func administer(ctx context.Context, server, statement string) error {
	db, err := sql.Open("postgres", server)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}
