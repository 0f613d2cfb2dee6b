package localservice

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestRedisKeepsItsData(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	ctx := t.Context()
	folder := open(t, dir)
	began := time.Now()
	server, err := folder.Redis(ctx, RedisConfig{MaxMemoryMB: 64})
	require.NoError(t, err)
	t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
	client := redisClient(t, server.URL())
	require.NoError(t, client.Set(ctx, "key", "kept", 0).Err())
	for setting, want := range map[string]string{"appendonly": "yes", "appendfsync": "everysec", "save": "",
		"maxmemory-policy": "noeviction", "maxmemory": "67108864", "bind": "127.0.0.1"} {
		require.Equal(t, map[string]string{setting: want}, client.ConfigGet(ctx, setting).Val())
	}

	// No password, wrong password; and none in the process list.
	for _, password := range []string{"", "wrong"} {
		stranger := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: password})
		defer stranger.Close()
		require.Error(t, stranger.Ping(ctx).Err())
	}
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", server.PID()))
	require.NoError(t, err)
	require.NotContains(t, string(arguments), server.Password())
	info, err := os.Stat(filepath.Join(dir, "redis.conf"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	first := server.URL()
	require.NoError(t, folder.Close(ctx))

	server, err = open(t, dir).Redis(ctx, RedisConfig{})
	require.NoError(t, err)
	require.Equal(t, first, server.URL())
	require.Equal(t, "kept", redisClient(t, server.URL()).Get(ctx, "key").Val())
	require.Contains(t, server.Redacted(), ":xxxxx@127.0.0.1:")
}

func TestRedisEphemeral(t *testing.T) {
	t.Parallel()
	folder := open(t, scratch(t))
	server, err := folder.Redis(t.Context(), RedisConfig{Ephemeral: true})
	require.NoError(t, err)
	require.NoError(t, redisClient(t, server.URL()).Set(t.Context(), "key", "lost", 0).Err())
	require.NoError(t, server.Stop(t.Context()))
	server, err = folder.Redis(t.Context(), RedisConfig{Ephemeral: true})
	require.NoError(t, err)
	require.EqualValues(t, 0, redisClient(t, server.URL()).DBSize(t.Context()).Val())
	_, err = folder.Redis(t.Context(), RedisConfig{MaxMemoryMB: -1})
	require.Error(t, err)
}

func TestRedisQuote(t *testing.T) {
	t.Parallel()
	require.Equal(t, `"/a b/\"c\"/\\d/\xc3\xbc\x0a"`, redisQuote("/a b/\"c\"/\\d/ü\n"))
	require.NotContains(t, redisSettings("/d\nrequirepass x", 1, "p", RedisConfig{}), "\nrequirepass x")
	require.Equal(t, 1, strings.Count(redisSettings("/d", 1, "p", RedisConfig{}), "requirepass"))
}
