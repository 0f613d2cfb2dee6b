package processtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// row is what the answers of admin commands have in common.
type row struct {
	ID int64 `json:"id"`
}

// TestAdmin goes through the commands against a running api: what they change
// holds at once, and each secret is shown once.
func TestAdmin(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	_, at := c.api(t, quietPort(t))
	const groups = "/api/v3/crash-groups"
	with := func(key string) int { return caller{base: at.base, key: key}.status(t, groups) }
	run := func(args ...string) json.RawMessage {
		t.Helper()
		var doc json.RawMessage
		answer(t, c.variables, &doc, append([]string{"admin"}, args...)...)
		return doc
	}
	require.Equal(t, http.StatusOK, with(c.owner))

	t.Run("rotate a key", func(t *testing.T) {
		fresh := secretIn(t, run("key", "rotate", "acme", "ada@example.com"))
		require.NotEqual(t, c.owner, fresh)
		require.Equal(t, http.StatusUnauthorized, with(c.owner), "the old key ends at once")
		require.Equal(t, http.StatusOK, with(fresh))
		c.owner = fresh
	})
	t.Run("revoke a key", func(t *testing.T) {
		made := run("key", "create", "acme", "ada@example.com", "--name", "second")
		second := secretIn(t, made)
		require.Equal(t, http.StatusOK, with(second))
		var key struct{ Key row }
		require.NoError(t, json.Unmarshal(made, &key))
		run("key", "revoke", "acme", strconv.FormatInt(key.Key.ID, 10))
		require.Equal(t, http.StatusUnauthorized, with(second))
		require.Equal(t, http.StatusOK, with(c.owner))
		list := string(run("key", "list", "acme", "ada@example.com"))
		require.NotContains(t, list, second)
		require.NotContains(t, list, c.owner)
		require.Contains(t, list, "second")
	})
	t.Run("block a member", func(t *testing.T) {
		run("user", "create", "acme", "bob@example.com")
		bob := secretIn(t, run("key", "create", "acme", "bob@example.com"))
		require.Equal(t, http.StatusOK, with(bob))
		run("user", "block", "acme", "bob@example.com")
		require.Equal(t, http.StatusForbidden, with(bob), "blocked")
		run("user", "unblock", "acme", "bob@example.com")
		require.Equal(t, http.StatusOK, with(bob))
		run("user", "role", "acme", "bob@example.com", "tester")
		require.Equal(t, http.StatusForbidden, with(bob), "testers read no crashes")
		require.Contains(t, string(run("user", "list", "acme")), "bob@example.com")
	})
	t.Run("service account", func(t *testing.T) {
		require.Equal(t, http.StatusOK, with(secretIn(t, run("service-account", "create", "acme", "ci"))))
	})
	t.Run("crash token", func(t *testing.T) {
		project := strconv.FormatInt(c.project, 10)
		made := run("crash-token", "create", "acme", project, "--token-name", "ios")
		token := secretIn(t, made)
		at.post(t, token, sample(uuid.New(), "TokenError", "token"))
		var ref struct {
			Token row `json:"crash_token"`
		}
		require.NoError(t, json.Unmarshal(made, &ref))
		require.NotZero(t, ref.Token.ID, "%s", made)
		run("crash-token", "revoke", "acme", strconv.FormatInt(ref.Token.ID, 10))
		awaitRefusal(t, at, token)
		at.post(t, c.token, sample(uuid.New(), "TokenError", "token"))
		require.Contains(t, string(run("crash-token", "list", "acme", project)), "ios")
	})
	t.Run("operator", func(t *testing.T) {
		password := secretIn(t, run("operator", "create", "root"))
		metrics := func(password string) int {
			res, _ := caller{base: at.base}.do(t, http.MethodGet, "/metrics", nil, func(r *http.Request) {
				r.SetBasicAuth("root", password)
			})
			return res.StatusCode
		}
		require.Equal(t, http.StatusOK, metrics(password))
		fresh := secretIn(t, run("operator", "rotate", "root"))
		require.Equal(t, http.StatusUnauthorized, metrics(password))
		require.Equal(t, http.StatusOK, metrics(fresh))
		run("operator", "revoke", "root")
		require.Equal(t, http.StatusUnauthorized, metrics(fresh))
	})
	t.Run("refusals", func(t *testing.T) {
		for _, args := range [][]string{
			{"org", "create", "acme"}, {"org", "create", "No Slug"}, {"user", "create", "acme", "no-mail"},
			{"key", "create", "acme", "nobody@example.com"}, {"key", "create", "nowhere", "ada@example.com"},
			{"key", "revoke", "acme", "999999"}, {"crash-token", "revoke", "acme", "999999"},
			{"user", "block", "acme", "nobody@example.com"}, {"operator", "rotate", "nobody"},
		} {
			r := command(t, c.variables, append([]string{"admin"}, args...)...)
			require.Equal(t, 1, r.code, "%v: %s%s", args, r.stdout, r.stderr)
			require.Empty(t, r.stdout, "%v", args)
			require.Contains(t, r.stderr, "slipway:", "%v", args)
		}
	})
}

// awaitRefusal waits until a revoked token is refused: the api believes for two seconds
// what it knows.
func awaitRefusal(t *testing.T, at caller, token string) {
	t.Helper()
	status := 0
	eventually(t, "the revoked token is refused", func() bool {
		res, _ := at.do(t, http.MethodPost, "/post?format=json&token="+token, sample(uuid.New(), "TokenError", "token"), nil)
		status = res.StatusCode
		return status != http.StatusOK
	})
	require.Equal(t, http.StatusForbidden, status)
}
