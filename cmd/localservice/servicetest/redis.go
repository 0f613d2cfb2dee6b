package servicetest

import (
	"context"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

const (
	// redisDatabases is how many logical databases a server has. Database 0
	// counts the tests; the others go round among them, so that a database
	// comes back to a new test when many hundreds have ended.
	redisDatabases = 1024
	redisCounter   = "tests"
)

func startRedis(ctx context.Context, folder *localservice.Folder) (*localservice.Server, error) {
	return folder.Redis(ctx, localservice.RedisConfig{Ephemeral: true, Databases: redisDatabases})
}

// RedisURL returns the URL of an empty logical database of Redis for this test
// alone. A test that stops the server, or empties all of it with FLUSHALL, starts
// one for itself with RedisServer.
func RedisURL(t testing.TB) string {
	t.Helper()
	server, err := binary.redis.address(redisVariable, startRedis)
	if err != nil {
		t.Fatalf("test redis: %v", err)
	}
	n := redisDo(t, withPath(server, "0"), func(client *redis.Client) (int64, error) {
		return client.Incr(t.Context(), redisCounter).Result()
	})
	address := withPath(server, strconv.FormatInt(1+n%(redisDatabases-1), 10))
	redisDo(t, address, func(client *redis.Client) (string, error) { return client.FlushDB(t.Context()).Result() })
	return address
}

func redisDo[T any](t testing.TB, address string, do func(*redis.Client) (T, error)) T {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatalf("test redis: %v", err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	result, err := do(client)
	if err != nil {
		t.Fatalf("test redis: %v", err)
	}
	return result
}

// RedisServer starts a Redis server for this test alone, which may stop it, and
// returns its URL.
func RedisServer(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	folder, err := localservice.Open(t.TempDir())
	if err != nil {
		t.Fatalf("test redis: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := folder.Close(ctx); err != nil {
			t.Logf("end test redis: %v", err)
		}
	})
	server, err := startRedis(ctx, folder)
	if err != nil {
		t.Fatalf("test redis: %v", err)
	}
	return server.URL()
}
