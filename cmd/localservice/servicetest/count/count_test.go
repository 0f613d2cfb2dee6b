package count_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/storage"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func TestStatements(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t), WrapConnector: counter.Connector})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	var one int
	require.NoError(t, db.GetContext(t.Context(), &one, `select 1`), "before")

	asked := counter.During(func() {
		require.NoError(t, db.InTx(t.Context(), func(tx *storage.Tx) error {
			for range 3 {
				if err := tx.GetContext(t.Context(), &one, "select\n\t1 + $1::int", one); err != nil {
					return err
				}
			}
			return tx.Savepoint(t.Context(), func() error { return nil })
		}))
		prepared, err := db.PreparexContext(t.Context(), `select 7`)
		require.NoError(t, err)
		defer prepared.Close()
		require.NoError(t, prepared.GetContext(t.Context(), &one))
		require.Error(t, db.GetContext(t.Context(), &one, `select wrong`))
		require.ErrorIs(t, db.InTx(t.Context(), func(*storage.Tx) error { return storage.ErrStale }), storage.ErrStale)
	})
	require.NoError(t, db.GetContext(t.Context(), &one, `select 1`), "after")
	require.Equal(t, []string{"begin", "select 1 + $1::int", "select 1 + $1::int", "select 1 + $1::int", "savepoint part",
		"release savepoint part",
		"commit", "prepare select 7", "select 7", "select wrong", "begin", "rollback"}, asked.SQL)
	require.Contains(t, asked.String(), "12 statements\n     3  select 1 + $1::int\n     2  begin\n     1  savepoint part\n")
	require.Contains(t, asked.String(), "0 Redis commands\n0 object requests\n")

	again := counter.During(func() {})
	require.Empty(t, again.SQL, "each use case by itself")
}

func TestCommandsOfRedis(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	options, err := redis.ParseURL(servicetest.RedisURL(t))
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(counter.Hook())
	require.NoError(t, client.Ping(t.Context()).Err())
	asked := counter.During(func() {
		require.NoError(t, client.Set(t.Context(), "a", 1, 0).Err())
		pipeline := client.Pipeline()
		pipeline.Get(t.Context(), "a")
		pipeline.Get(t.Context(), "a")
		_, err := pipeline.Exec(t.Context())
		require.NoError(t, err)
	})
	require.Equal(t, []string{"set", "get", "get"}, asked.Redis)
}

func TestRequestsForObjects(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	client := &http.Client{Transport: counter.Transport(http.DefaultTransport)}
	asked := counter.During(func() {
		for _, path := range []string{"/bucket/", "/bucket/a/b", "/bucket?list-type=2"} {
			response, err := client.Get(server.URL + path)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
	})
	require.Equal(t, []string{"GET bucket", "GET object", "GET bucket"}, asked.Objects)
}
