package dispatch

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// A Redis that is out of memory responds to a ping. The check and everything that writes
// say what it is, and it serves again when there is room.
func TestRedisOutOfMemory(t *testing.T) {
	t.Parallel()
	r, err := OpenRedis(RedisConfig{URL: servicetest.RedisServer(t)})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Check(t.Context()))
	require.NoError(t, r.client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.NoError(t, r.client.Ping(t.Context()).Err())
	for _, err := range []error{r.Check(t.Context()), r.client.Set(t.Context(), "a", "b", 0).Err()} {
		require.ErrorIs(t, err, ErrUnavailable)
		var why *UnavailableError
		require.ErrorAs(t, err, &why)
		require.Equal(t, "out of memory", why.Reason())
	}
	require.NoError(t, r.client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.NoError(t, r.Check(t.Context()))
}

// Other errors are not of the server as a whole.
func TestErrorsOfOneCommand(t *testing.T) {
	t.Parallel()
	r, err := OpenRedis(RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	defer r.Close()
	require.NotErrorIs(t, r.client.Get(t.Context(), "no such key").Err(), ErrUnavailable)
	require.NotErrorIs(t, r.client.Do(t.Context(), "no-such-command").Err(), ErrUnavailable)
	require.NotErrorIs(t, unavailable(errors.New("ERR syntax error")), ErrUnavailable)
}

// A password is never part of the host.
func TestHostOfRedis(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://127.0.0.1:6379/2":                     "127.0.0.1:6379",
		"redis://user:se%40same@redis.example:6379":    "redis.example:6379",
		"rediss://:sesame@redis.example:6380/1":        "redis.example:6380",
		"redis-sentinel://:sesame@a:1,b:2?master=main": "a:1,b:2",
	} {
		r, err := OpenRedis(RedisConfig{URL: url})
		require.NoError(t, err, url)
		require.Equal(t, want, r.Host())
		require.NoError(t, r.Close())
	}
	AsynqLog{slog.New(slog.DiscardHandler)}.Fatal("asynq does not end the process")
}
