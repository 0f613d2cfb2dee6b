package dispatch

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, url           string
		hosts, sentinels    string
		user, password      string
		sentinelUser        string
		db                  int
		tls, sentinelTLS    bool
		master, wrong       string
		config, sentinelKey string
	}{
		{name: "plain", url: "redis://:sesame@h:1/3", hosts: "h:1", password: "sesame", db: 3},
		{name: "default port", url: "redis://h", hosts: "h:6379"},
		{name: "user", url: "rediss://ada:s%40@h/", hosts: "h:6379", user: "ada", password: "s@", tls: true},
		{name: "IPv6", url: "redis://[::1]:7", hosts: "[::1]:7"},
		{name: "password of the setting", url: "redis://ada@h", config: "x", hosts: "h:6379", user: "ada", password: "x"},
		{name: "the URL's password first", url: "redis://ada:y@h", config: "x", hosts: "h:6379", user: "ada", password: "y"},
		{name: "Sentinels", url: "redis-sentinel://ada:p@s1,s2:5,[::2]:6/2?master=main", sentinels: "s1:26379 s2:5 [::2]:6",
			user: "ada", password: "p", db: 2, master: "main"},
		{name: "Sentinels with a password", url: "redis-sentinel://s1?master=main&sentinel_user=eve", sentinelKey: "q",
			sentinels: "s1:26379", master: "main", sentinelUser: "eve"},
		{name: "all with TLS", url: "rediss-sentinel://s1?master=main", sentinels: "s1:26379", master: "main", tls: true, sentinelTLS: true},
		{name: "Sentinels without TLS", url: "rediss-sentinel://s1?master=main&sentinel_tls=false", sentinels: "s1:26379",
			master: "main", tls: true},
		{name: "Sentinels with TLS", url: "redis-sentinel://s1?master=main&sentinel_tls=true", sentinels: "s1:26379",
			master: "main", sentinelTLS: true},
		{name: "cluster", url: "redis-cluster://:p@a:1,b:2", hosts: "a:1 b:2", password: "p"},
		{name: "cluster with TLS", url: "rediss-cluster://a", hosts: "a:6379", tls: true},

		{name: "nothing", url: "", wrong: "must begin with"},
		{name: "no scheme", url: "sesame@h:1", wrong: "must begin with"},
		{name: "other scheme", url: "http://:sesame@h", wrong: "must be redis://"},
		{name: "bad host", url: "redis://:sesame@[::1", wrong: "cannot be read"},
		{name: "no host", url: "redis://:sesame@/1", wrong: "address 1"},
		{name: "several", url: "redis://:sesame@a,b", wrong: "several addresses"},
		{name: "no master", url: "redis-sentinel://:sesame@s1", wrong: "?master=NAME"},
		{name: "unknown parameter", url: "redis-sentinel://:sesame@s1?mastre=x", wrong: `"mastre"`},
		{name: "a parameter of another kind", url: "redis://:sesame@s1?master=x", wrong: `"master"`},
		{name: "database of a cluster", url: "redis-cluster://:sesame@a/1", wrong: "database 0"},
		{name: "no number", url: "redis://:sesame@a/x", wrong: "number of the database"},
		{name: "no boolean", url: "redis-sentinel://:sesame@a?master=m&sentinel_tls=x", wrong: "sentinel_tls"},
		{name: "no file", url: "rediss://:sesame@a?ca=/none", wrong: "/none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, err := parseAddress(RedisConfig{URL: c.url, Password: c.config, SentinelPassword: c.sentinelKey})
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				require.NotContains(t, err.Error(), "sesame")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.hosts, strings.Join(a.options.Addrs, " "))
			require.Equal(t, c.sentinels, strings.Join(a.sentinels, " "))
			require.Equal(t, c.user, a.options.Username)
			require.Equal(t, c.password, a.options.Password)
			require.Equal(t, c.db, a.options.DB)
			require.Equal(t, c.tls, a.options.TLSConfig != nil)
			require.Equal(t, c.sentinelTLS, a.sentinel.tls != nil)
			require.Equal(t, c.master, a.options.MasterName)
			require.Equal(t, c.sentinelUser, a.sentinel.user)
			require.Equal(t, c.sentinelKey, a.sentinel.password)
		})
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("redis-sentinel://ada:p@s1,s2:5,[::2]:6/2?master=main&sentinel_tls=1")
	f.Add("rediss://h")
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := parseAddress(RedisConfig{URL: text}); err == nil && len(a.options.Addrs)+len(a.sentinels) == 0 {
			t.Errorf("no address in %q", text)
		}
	})
}

// A delivery arrives through each kind of deployment, each with its own passwords and TLS;
// a wrong password is named with the server that refused it.
func TestRedisDeployments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scheme     string
		tls, sentinelTLS bool
	}{
		{"Sentinels", "redis-sentinel", false, false},
		{"Sentinels, all with TLS", "rediss-sentinel", true, true},
		{"Sentinels without TLS, servers with it", "rediss-sentinel", true, false},
		{"Sentinels with TLS, servers without it", "redis-sentinel", false, true},
		{"cluster", "redis-cluster", false, false},
		{"cluster with TLS", "rediss-cluster", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := servicetest.RedisGroupConfig{TLS: c.tls, SentinelTLS: c.sentinelTLS, NoFailover: true}
			var g *servicetest.RedisGroup
			u := url.URL{Scheme: c.scheme, User: url.UserPassword("slipway", "")}
			q := url.Values{}
			if c.tls || c.sentinelTLS {
				q.Set("ca", "")
			}
			if strings.HasSuffix(c.scheme, "sentinel") {
				g = servicetest.RedisSentinels(t, config)
				q.Set("master", "main")
				if c.tls != c.sentinelTLS {
					q.Set("sentinel_tls", map[bool]string{true: "true", false: "false"}[c.sentinelTLS])
				}
			} else {
				g = servicetest.RedisCluster(t, config)
				u.User = url.UserPassword("", "")
			}
			if q.Has("ca") {
				q.Set("ca", g.Authority)
			}
			u.User = url.UserPassword(u.User.Username(), g.Password)
			u.RawQuery = q.Encode()
			address := u.Scheme + "://" + u.User.String() + "@" + strings.Join(g.Addresses, ",") + "?" + u.RawQuery
			r, err := OpenRedis(RedisConfig{URL: address, SentinelPassword: g.SentinelPassword})
			require.NoError(t, err)
			defer r.Close()
			require.NoError(t, r.Check(t.Context()))
			deliver(t, r)

			refused(t, RedisConfig{URL: strings.Replace(address, g.Password, "wrong", 1), SentinelPassword: g.SentinelPassword},
				"write to redis: 127.0.0.1:")
			if g.SentinelPassword != "" {
				refused(t, RedisConfig{URL: address, SentinelPassword: "wrong"}, "sentinel at 127.0.0.1:")
				refused(t, RedisConfig{URL: strings.Replace(address, "master=main", "master=other", 1),
					SentinelPassword: g.SentinelPassword}, `does not know "other"`)
			}
		})
	}
}

// deliver brings a delivery to an asynq server of this Redis.
func deliver(t *testing.T, r *Redis) {
	t.Helper()
	came := make(chan struct{})
	server := asynq.NewServer(r.Options(), asynq.Config{Concurrency: 1, Queues: map[string]int{tasks.Default: 1},
		TaskCheckInterval: 50 * time.Millisecond, LogLevel: asynq.FatalLevel})
	require.NoError(t, server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { close(came); return nil })))
	defer server.Shutdown()
	require.NoError(t, r.enqueue(t.Context(), []Delivery{{Kind: "crash:purge", Queue: tasks.Default}}))
	select {
	case <-came:
	case <-time.After(2 * time.Minute):
		t.Fatal("the delivery did not come")
	}
	_, err := r.Depths(t.Context())
	require.NoError(t, err)
}

func refused(t *testing.T, c RedisConfig, by string) {
	t.Helper()
	r, err := OpenRedis(c)
	require.NoError(t, err)
	defer r.Close()
	err = r.Check(t.Context())
	require.ErrorContains(t, err, by)
	require.ErrorIs(t, err, ErrUnavailable)
	var away *UnavailableError
	require.ErrorAs(t, err, &away)
	require.Contains(t, []string{"it refuses the password", "Sentinel: it refuses the password",
		"Sentinel: it does not know the name of the data"}, away.Reason())
}
