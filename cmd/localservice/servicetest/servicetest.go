// Package servicetest gives tests real services: PostgreSQL with a database of
// their own, Redis and MinIO servers of their own.
//
// PostgreSQL is started once for each test binary, without fsync; a template
// database is migrated once and cloned for each test (some 50 ms). Redis starts
// in milliseconds, so every test that asks gets its own server and may empty it.
//
//	func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }
//
//	func TestX(t *testing.T) { db := servicetest.DB(t) }
//
// A missing binary fails the test with the line that installs it; nothing is
// skipped.
package servicetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
)

// services are the binary's servers; Main owns them.
var services struct {
	once     sync.Once
	err      error
	folder   *localservice.Folder
	dir      string
	adminURL string
	template string
	serial   atomic.Int64
}

const startTimeout = 60 * time.Second

// Main runs the tests of a package and then ends the servers that they started.
func Main(m *testing.M) int {
	code := m.Run()
	if services.folder != nil {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := services.folder.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "end test services:", err)
		}
		_ = os.RemoveAll(services.dir)
	}
	return code
}

// DatabaseURL gives a test the URL of a migrated database of its own, dropped
// when the test ends.
func DatabaseURL(t testing.TB) string {
	t.Helper()
	services.once.Do(func() { services.err = startPostgres() })
	if services.err != nil {
		t.Fatalf("test database: %v", services.err)
	}
	name := fmt.Sprintf("slipway_test_%d_%d", os.Getpid(), services.serial.Add(1))
	exec := func(statement string) error {
		db, err := sql.Open("postgres", services.adminURL)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec(statement)
		return err
	}
	if err := exec("create database " + name + " template " + services.template); err != nil {
		t.Fatalf("clone test database: %v", err)
	}
	t.Cleanup(func() {
		if err := exec("drop database if exists " + name + " with (force)"); err != nil {
			t.Logf("drop test database: %v", err)
		}
	})
	return withDatabase(services.adminURL, name)
}

// DB gives a test a migrated database of its own.
func DB(t testing.TB) *storage.DB {
	t.Helper()
	db, err := storage.Open(storage.Config{URL: DatabaseURL(t)})
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// startPostgres starts the server and migrates the template. A template with
// connections cannot be cloned, so the pool is closed again.
func startPostgres() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "slipway-test-")
	if err != nil {
		return err
	}
	services.dir = dir
	if services.folder, err = localservice.Open(dir); err != nil {
		return err
	}
	server, err := services.folder.Postgres(ctx, localservice.PostgresConfig{Ephemeral: true})
	if err != nil {
		return err
	}
	services.adminURL = withParameter(server.URL(), "sslmode", "disable")
	db, err := sql.Open("postgres", services.adminURL)
	if err != nil {
		return err
	}
	defer db.Close()
	services.template = "slipway_template"
	if _, err := db.ExecContext(ctx, "create database "+services.template); err != nil {
		return err
	}
	template, err := storage.Open(storage.Config{URL: withDatabase(services.adminURL, services.template)})
	if err != nil {
		return err
	}
	defer template.Close()
	_, err = storage.Migrate(ctx, template)
	return err
}

// RedisURL starts a Redis server for one test.
func RedisURL(t testing.TB) string {
	t.Helper()
	return start(t, func(ctx context.Context, f *localservice.Folder) (*localservice.Server, error) {
		return f.Redis(ctx, localservice.RedisConfig{Ephemeral: true})
	}).URL()
}

// Minio starts a MinIO server for one test and gives the URL of a bucket, which
// object.Open makes: s3://ACCESS:SECRET@127.0.0.1:port/test?region=...&tls=0.
func Minio(t testing.TB) string {
	t.Helper()
	server := start(t, func(ctx context.Context, f *localservice.Folder) (*localservice.Server, error) {
		return f.Minio(ctx, localservice.MinioConfig{})
	})
	u, _ := url.Parse(server.URL()) // the private server's own URL
	u.Path = "/test"
	return u.String()
}

func start(t testing.TB, run func(context.Context, *localservice.Folder) (*localservice.Server, error)) *localservice.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	folder, err := localservice.Open(t.TempDir())
	if err != nil {
		t.Fatalf("test service: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := folder.Close(ctx); err != nil {
			t.Logf("end test service: %v", err)
		}
	})
	server, err := run(ctx, folder)
	if err != nil {
		t.Fatalf("test service: %v", err)
	}
	return server
}

func withDatabase(raw, name string) string {
	u, _ := url.Parse(raw) // the private server's own URL
	u.Path = "/" + name
	return u.String()
}

func withParameter(raw, name, value string) string {
	u, _ := url.Parse(raw)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}
