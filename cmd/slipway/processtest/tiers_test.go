package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
)

// since returns a clock that says how much time has gone by.
func since() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began).Round(time.Millisecond) }
}

// TestTiers sets up a production deployment the way its guide says: an empty
// database, MinIO, one process for each tier.
func TestTiers(t *testing.T) {
	t.Parallel()
	folder, err := localservice.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close(context.Background()) })
	server, err := folder.Postgres(t.Context(), localservice.PostgresConfig{Ephemeral: true, SharedBuffersMB: 64})
	require.NoError(t, err)
	database := []string{"SLIPWAY_DATABASE_URL=" + server.URL()}

	pending := command(t, database, "migrate", "status")
	require.Equal(t, 3, pending.code, pending.stderr)
	require.Contains(t, pending.stdout, "pending  -                    00001_accounts.sql")
	early := command(t, database, "admin", "org", "create", "acme")
	require.Equal(t, 1, early.code, "before the migration")
	first := command(t, database, "migrate")
	require.Zero(t, first.code, first.stderr)
	require.Contains(t, first.stdout, "applied 00001")
	second := command(t, database, "migrate")
	require.Zero(t, second.code)
	require.Empty(t, second.stdout)
	require.Contains(t, second.stderr, "newest schema")
	checkMigrationStatus(t, database, server.URL())

	c := newCluster(t, server.URL(), servicetest.RedisURL(t))
	// The last of two settings of a variable counts.
	c.variables = append(c.variables, "SLIPWAY_OBJECTS_URL="+servicetest.Minio(t), "SLIPWAY_SIGNING_KEY=", "SLIPWAY_LOG_LEVEL=debug")
	api, at := c.api(t, quietPort(t))
	worker, workerOps := c.tier(t, "worker")
	scheduler, schedulerOps := c.tier(t, "scheduler")

	content := bytes.Repeat([]byte{0, 1, 2, 0xfe, 0xff}, 400_000)
	id := postWithFile(t, at, c.token, sample(uuid.New(), "TierError", "in_tiers"), "dump.bin", content)
	g := at.awaitGroup(t, "TierError", 1)
	require.Contains(t, g.Culprit, "in_tiers")
	require.Contains(t, g.Title, "it broke")
	report := at.crash(t, id)
	require.Equal(t, "processed", report.State)
	require.Len(t, report.Attachments, 1)
	require.Equal(t, "dump.bin", report.Attachments[0].Name)
	require.Equal(t, content, at.download(t, report.Attachments[0]))
	other := caller{base: at.base}
	require.Equal(t, http.StatusUnauthorized, other.status(t, report.Attachments[0].URL))
	require.Equal(t, http.StatusNotFound, other.status(t, "/objects/attachments/x"), "an object store serves its own links")

	for _, base := range []string{workerOps, schedulerOps} {
		ops := caller{base: base}
		require.Equal(t, http.StatusOK, ops.status(t, "/healthz"))
		require.Equal(t, http.StatusOK, ops.status(t, "/readyz"))
		res, text := ops.do(t, http.MethodGet, "/metrics", nil, nil)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Regexp(t, `(?m)^slipway_\w+`, string(text))
		require.Equal(t, http.StatusNotFound, ops.status(t, "/api/v3/crash-groups"), "health and metrics only")
	}

	// A tier whose database goes away says so, and stays.
	require.NoError(t, server.Stop(t.Context()))
	for _, base := range []string{at.base, workerOps, schedulerOps} {
		eventually(t, "not ready without the database", func() bool {
			return caller{base: base}.status(t, "/readyz") == http.StatusServiceUnavailable
		})
		require.Equal(t, http.StatusOK, caller{base: base}.status(t, "/healthz"), "alive")
	}
	waited := since()
	res, text := other.do(t, http.MethodPost, "/post?format=json&token="+c.token, sample(uuid.New(), "TierError", "in_tiers"), nil)
	t.Logf("without the database a report is refused after %s", waited())
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode, "%s", text)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Equal(t, http.StatusServiceUnavailable, at.status(t, "/api/v3/crash-groups"))
	for _, p := range []*process{api, worker, scheduler} {
		require.Zero(t, p.signal(t, syscall.SIGTERM), "exit code of %v without a database", p.cmd.Args[1:])
		// Errors of connections are where passwords leak.
		for _, value := range c.secrets(t) {
			require.False(t, strings.Contains(p.stderr.String(), value), "a secret is in the log of %v", p.cmd.Args[1:])
		}
	}
}

// checkMigrationStatus looks at a database that has all migrations, and then one that the
// program does not know: a newer program was here.
func checkMigrationStatus(t *testing.T, variables []string, databaseURL string) {
	t.Helper()
	applied := command(t, variables, "migrate", "status", "--json")
	require.Zero(t, applied.code, applied.stderr)
	var list []storage.Migration
	require.NoError(t, json.Unmarshal([]byte(applied.stdout), &list))
	require.Greater(t, len(list), 40)
	for _, m := range list {
		require.Equal(t, storage.MigrationApplied, m.State, m.Name)
		require.NotNil(t, m.AppliedAt)
	}
	db, err := storage.Open(storage.Config{URL: databaseURL, MaxConns: 1})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`insert into goose_db_version (version_id, is_applied) values (99999, true)`)
	require.NoError(t, err)
	newer := command(t, variables, "migrate", "status")
	require.Equal(t, 4, newer.code)
	require.Regexp(t, `(?m)^unknown  \S+ +99999$`, newer.stdout)
	refused := command(t, variables, "migrate")
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.stderr, "its schema is 99999")
	worker := start(t, append([]string{"SLIPWAY_REDIS_URL=redis://127.0.0.1:1", "SLIPWAY_OBJECTS_URL=s3://a:b@127.0.0.1:1/c",
		"SLIPWAY_PUBLIC_URL=http://127.0.0.1"}, variables...), "worker")
	worker.await(t, worker.stderr, `the program is older than the schema.*"schema":99999`)
	worker.kill()
	_, err = db.Exec(`delete from goose_db_version where version_id = 99999`)
	require.NoError(t, err)
}

// postWithFile submits a report and a file beside it.
func postWithFile(t *testing.T, at caller, token string, report []byte, name string, content []byte) uuid.UUID {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, p := range []struct {
		field, file string
		content     []byte
	}{{"upload_file", "upload_file.json", report}, {"attachment_" + name, name, content}} {
		part, err := form.CreateFormFile(p.field, p.file)
		require.NoError(t, err)
		_, err = part.Write(p.content)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	res, err := http.Post(at.base+"/post?format=json&token="+token, form.FormDataContentType(), &body)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	return receipt(t, text)
}
