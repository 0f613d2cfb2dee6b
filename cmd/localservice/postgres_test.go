package localservice

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

func TestPostgresKeepsItsData(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	ctx := t.Context()

	folder := open(t, dir)
	began := time.Now()
	server, err := folder.Postgres(ctx, PostgresConfig{})
	require.NoError(t, err)
	t.Logf("durable, data made: ready after %v", time.Since(began).Round(time.Millisecond))
	execute(t, server.URL(), "create table kept (value text)", "insert into kept values ('still here')")
	for setting, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "wal_level": "minimal",
		"jit": "off", "TimeZone": "UTC", "max_connections": "200", "data_checksums": "on",
		"listen_addresses": "127.0.0.1", "checkpoint_timeout": "15min",
		"shared_buffers": "256MB", "password_encryption": "scram-sha-256", "is_superuser": "off",
		"server_encoding": "UTF8", "wal_buffers": "64MB", "max_wal_size": "4GB",
	} {
		require.Equal(t, want, query[string](t, server.URL(), "show "+setting), setting)
	}
	require.Equal(t, "äöü", query[string](t, server.URL(), "select lower('ÄÖÜ')"))
	first, pid := server.URL(), server.PID()
	_, err = folder.Postgres(ctx, PostgresConfig{})
	require.ErrorContains(t, err, "already")
	require.NoError(t, server.Stop(ctx))
	require.NoError(t, server.Stop(ctx), "a second Stop")
	require.False(t, isRunning(pid))
	require.NoError(t, server.Err())
	select {
	case <-server.Done():
		t.Fatal("Done is closed after Stop")
	default:
	}
	require.NoError(t, folder.Close(ctx))
	_, err = folder.Postgres(ctx, PostgresConfig{})
	require.ErrorIs(t, err, ErrClosed)

	// A pid that another program has by now must not prevent the start.
	stale := filepath.Join(dir, "postgres", "postmaster.pid")
	require.NoError(t, os.WriteFile(stale, []byte(strconv.Itoa(os.Getppid())+"\n"), 0o600))
	require.NoError(t, copyOwner(filepath.Dir(stale), stale))
	folder = open(t, dir)
	began = time.Now()
	server, err = folder.Postgres(ctx, PostgresConfig{})
	require.NoError(t, err)
	t.Logf("durable, data found: ready after %v", time.Since(began).Round(time.Millisecond))
	require.Equal(t, "still here", query[string](t, server.URL(), "select value from kept"))
	require.Equal(t, first, server.URL(), "port and password stay")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", server, server, server, server.Redacted()), server.Password())

	for _, secret := range []string{"postgres", "postgres-superuser"} {
		info, err := os.Stat(filepath.Join(dir, "secrets", secret))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

func TestPostgresAsksForItsPassword(t *testing.T) {
	t.Parallel()
	folder := open(t, seeded(t))
	server, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	for _, user := range []string{"slipway", "postgres"} {
		address.User = url.UserPassword(user, "wrong")
		db, err := sql.Open("postgres", address.String())
		require.NoError(t, err)
		defer db.Close()
		var refused *pq.Error
		require.ErrorAs(t, db.Ping(), &refused)
		require.EqualValues(t, "28P01", refused.Code, user)
	}
	// The role can do what tests need: clone a template.
	execute(t, server.URL(), "create database clone template slipway", "drop database clone with (force)")
	for setting, want := range map[string]string{"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"} {
		require.Equal(t, want, query[string](t, server.URL(), "show "+setting))
	}

	// Neither values nor statements reach the log.
	db, err := sql.Open("postgres", server.URL())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("create table one (v text unique); insert into one values ('personal'), ('personal')")
	require.Error(t, err)
	text, err := os.ReadFile(server.Log())
	require.NoError(t, err)
	require.Contains(t, string(text), "duplicate key")
	require.NotContains(t, string(text), "personal")
}

func TestPostgresReportsItsDeath(t *testing.T) {
	t.Parallel()
	folder := open(t, seeded(t))
	server, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	db, err := sql.Open("postgres", server.URL())
	require.NoError(t, err)
	defer db.Close()
	busy := make(chan struct{})
	go func() { // a session that is too busy to notice
		defer close(busy)
		_, _ = db.Exec("do $$ begin loop perform 1; end loop; end $$")
	}()
	eventually(t, "the session runs", func() bool {
		return query[int](t, server.URL(), "select count(*) from pg_stat_activity where query like '%perform 1%' and pid <> pg_backend_pid()") > 0
	})
	require.NoError(t, server.process.handle.Kill())
	select {
	case <-server.Done():
	case <-time.After(time.Minute):
		t.Fatal("Done is not closed")
	}
	require.ErrorContains(t, server.Err(), "killed")
	require.NoError(t, server.Stop(t.Context()))

	again, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err, "sessions of the dead server keep no new one from starting")
	require.Equal(t, 1, query[int](t, again.URL(), "select 1"))
	<-busy
}

// The folders are too deep for paths of sockets, or closed to all but root.
func TestPostgresAnywhere(t *testing.T) {
	t.Parallel()
	deep := filepath.Join(scratch(t), strings.Repeat(strings.Repeat("d", 50)+"/", 5)+"it's a \"folder\" ü")
	require.Greater(t, len(deep), 200)
	closed := filepath.Join(scratch(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	for name, dir := range map[string]string{"deep": deep, "closed": filepath.Join(closed, "data")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := open(t, dir)
			server, err := folder.Postgres(t.Context(), small)
			require.NoError(t, err)
			require.Equal(t, 1, query[int](t, server.URL(), "select 1"))
			cache, err := folder.Redis(t.Context(), RedisConfig{})
			require.NoError(t, err)
			require.NoError(t, redisClient(t, cache.URL()).Set(t.Context(), "k", "v", 0).Err())
		})
	}
}

// As root, where namespaces are forbidden as in many containers.
func TestPostgresWithoutNamespaces(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		return // only root needs another user
	}
	base := scratch(t)
	require.NoError(t, os.Chmod(filepath.Dir(base), 0o711))
	require.NoError(t, os.Chmod(base, 0o711))
	inTheWay := filepath.Join(base, "closed")
	require.NoError(t, os.Mkdir(inTheWay, 0o700))

	folder := open(t, filepath.Join(inTheWay, "data"))
	folder.noNamespace = true
	_, err := folder.Postgres(t.Context(), small)
	var blocked *BlockedError
	require.ErrorAs(t, err, &blocked)
	require.Equal(t, inTheWay, blocked.Folder)

	// The same data in a namespace, as another user, and in a namespace again.
	dir := seeded(t)
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	for i, noNamespace := range []bool{false, true, false} {
		folder := open(t, dir)
		folder.noNamespace = noNamespace
		server, err := folder.Postgres(t.Context(), small)
		require.NoError(t, err)
		execute(t, server.URL(), "create table if not exists turns (n int)", "insert into turns values (1)")
		require.Equal(t, i+1, query[int](t, server.URL(), "select count(*) from turns"))
		info, err := os.Stat(filepath.Join(dir, "postgres"))
		require.NoError(t, err)
		uid, _, _ := ownerOf(info)
		require.Equal(t, noNamespace, uid != 0, "owner of the data is %d", uid)
		require.NoError(t, folder.Close(t.Context()))
	}

	// A new folder, created by the other user.
	folder = open(t, filepath.Join(base, "fresh"))
	folder.noNamespace = true
	server, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, server.URL(), "select 1"))
}

func TestPostgresOfAnotherVersion(t *testing.T) {
	t.Parallel()
	found := []Binary{{PostgreSQL, "/a/postgres", 17}, {PostgreSQL, "/b/postgres", 15}, {PostgreSQL, "/c/postgres", 15}}
	chosen, err := matchMajor(found, 15, "/data")
	require.NoError(t, err)
	require.Equal(t, "/b/postgres", chosen.Path)
	_, err = matchMajor(found, 12, "/data")
	var version *VersionError
	require.ErrorAs(t, err, &version)
	require.ErrorContains(t, err, "made by PostgreSQL 12, but only PostgreSQL 15, 17 is installed")

	dir := scratch(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "postgres"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("9\n"), 0o600))
	_, err = open(t, dir).Postgres(t.Context(), small)
	require.ErrorAs(t, err, &version)
	require.Equal(t, 9, version.Data)
}

func TestPostgresStartErrors(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	folder := open(t, dir)
	server, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	port := readPort(filepath.Join(dir, "postgres.port"))
	require.Equal(t, "127.0.0.1:"+strconv.Itoa(port), server.Addr())
	require.NoError(t, server.Stop(t.Context()))

	// The former port is taken: another is chosen.
	listener, err := net.Listen("tcp4", server.Addr())
	require.NoError(t, err)
	moved, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	require.NotEqual(t, server.Addr(), moved.Addr())
	require.NoError(t, moved.Stop(t.Context()))

	// Taken between the choice and the bind: the server reports it, and another
	// port is tried.
	data := filepath.Join(dir, "postgres")
	_, err = folder.serveAt(t.Context(), folder.specForTest(t, data), port)
	var failed *StartError
	require.ErrorAs(t, err, &failed)
	require.Contains(t, strings.ToLower(failed.Tail), "already in use")
	require.NoError(t, listener.Close())

	// A setting that the server refuses: the error has the end of the log.
	conf := filepath.Join(data, "postgresql.auto.conf")
	require.NoError(t, os.WriteFile(conf, []byte("no_such_setting = 1\n"), 0o600))
	_, err = folder.Postgres(t.Context(), small)
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Tail, "no_such_setting")
	require.NoError(t, os.WriteFile(conf, nil, 0o600))

	// The superuser's password lost.
	require.NoError(t, os.Remove(filepath.Join(dir, "secrets", "postgres-superuser")))
	_, err = folder.Postgres(t.Context(), small)
	require.ErrorContains(t, err, "secrets/postgres-superuser")

	// Cancelled by the caller.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = folder.Postgres(ctx, small)
	require.True(t, errors.Is(err, context.Canceled), "%v", err)

	_, err = folder.Postgres(t.Context(), PostgresConfig{SharedBuffersMB: 1})
	require.ErrorContains(t, err, "SharedBuffersMB")
}

func (f *Folder) specForTest(t *testing.T, data string) serverSpec {
	binary, err := Find(PostgreSQL)
	require.NoError(t, err)
	as, err := f.postgresIdentity(t.Context(), binary)
	require.NoError(t, err)
	return serverSpec{
		command: command{name: "postgres", program: binary.Path, folder: data, as: as, log: filepath.Join(f.dir, "log", "postgres.log")},
		args: func(port int) ([]string, error) {
			return []string{"-D", data, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(port), "-c",
				"unix_socket_directories="}, nil
		},
		url:   func(port int) url.URL { return postgresURL(port, "slipway", "x", "slipway") },
		ready: func(context.Context, url.URL) error { return errors.New("not yet") },
	}
}
