package processtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
)

// cluster is a production deployment: tiers as processes of their own, with one
// organization, made by `slipway admin`.
type cluster struct {
	variables []string
	db        *storage.DB
	org       struct{ Slug string }
	token     string // of the crash project
	project   int64
	owner     string // api key
}

// rescueAfter is after how long without a heartbeat a worker counts as dead here: tests that
// kill one wait for it. On a busy machine a worker may lose a task to another one for it.
const rescueAfter = "1s"

// newCluster returns the organization; the services and the objects' folder are
// the caller's.
func newCluster(t *testing.T, databaseURL, redisURL string) *cluster {
	t.Helper()
	c := &cluster{variables: []string{"SLIPWAY_DATABASE_URL=" + databaseURL, "SLIPWAY_REDIS_URL=" + redisURL,
		"SLIPWAY_OBJECTS_URL=file://" + t.TempDir(), "SLIPWAY_SIGNING_KEY=" + strings.Repeat("k", 32),
		"SLIPWAY_PUBLIC_URL=http://127.0.0.1", "SLIPWAY_OPS_LISTEN=127.0.0.1:0", "SLIPWAY_STOP_DELAY=0", "SLIPWAY_RESCUE_AFTER=" + rescueAfter}}
	var err error
	c.db, err = storage.Open(storage.Config{URL: servicetest.Patient(t, databaseURL), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.db.Close() })
	c.bootstrap(t)
	return c
}

// bootstrap creates organization, owner and crash project by the command line.
func (c *cluster) bootstrap(t *testing.T) {
	t.Helper()
	var org struct {
		Organization struct{ Slug string }
	}
	answer(t, c.variables, &org, "admin", "org", "create", "acme", "--name", "Acme")
	require.Equal(t, "acme", org.Organization.Slug)
	c.org = org.Organization
	var project struct {
		Project struct {
			ID int64 `json:"id"`
		} `json:"crash_project"`
		Secret string `json:"secret"`
	}
	answer(t, c.variables, &project, "admin", "crash-project", "create", "acme", "shop")
	c.project, c.token = project.Project.ID, project.Secret
	var user, key json.RawMessage
	answer(t, c.variables, &user, "admin", "user", "create", "acme", "ada@example.com", "--role", "owner")
	answer(t, c.variables, &key, "admin", "key", "create", "acme", "ada@example.com")
	c.owner = secretIn(t, key)
}

// secrets are the keys and the passwords in the addresses of the services.
func (c *cluster) secrets(t *testing.T) []string {
	t.Helper()
	list := []string{c.token, c.owner}
	for _, v := range c.variables {
		_, value, _ := strings.Cut(v, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			password, set := u.User.Password()
			require.True(t, set)
			list = append(list, password)
		}
	}
	require.Len(t, list, 5, "two keys, three services")
	return list
}

// secretIn reads the secret that an admin command shows once.
func secretIn(t *testing.T, answer json.RawMessage) string {
	t.Helper()
	var doc struct {
		Secret string `json:"secret"`
	}
	require.NoError(t, json.Unmarshal(answer, &doc))
	require.NotEmpty(t, doc.Secret, "%s", answer)
	return doc.Secret
}

// api starts an api on a port of its own and waits until it is ready.
func (c *cluster) api(t *testing.T, port int) (*process, caller) {
	t.Helper()
	p := c.apiAt(t, port)
	at := caller{base: "http://127.0.0.1:" + strconv.Itoa(port), key: c.owner}
	c.awaitReady(t, p, at.base)
	return p, at
}

func (c *cluster) apiAt(t *testing.T, port int) *process {
	t.Helper()
	return start(t, append([]string{"SLIPWAY_LISTEN=127.0.0.1:" + strconv.Itoa(port)}, c.variables...), "api")
}

// tier starts a worker or scheduler, and gives the address of its health.
func (c *cluster) tier(t *testing.T, name string, more ...string) (*process, string) {
	t.Helper()
	p := start(t, append(more, c.variables...), name)
	base := "http://" + p.await(t, p.stderr, `"ops_listen":"([^"]+)"`)[1]
	c.awaitReady(t, p, base)
	return p, base
}

func (c *cluster) awaitReady(t *testing.T, p *process, base string) {
	t.Helper()
	eventually(t, "ready: "+strings.Join(p.cmd.Args[1:], " "), func() bool {
		res, err := http.Get(base + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// count is a query for one number.
func (c *cluster) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, c.db.GetContext(t.Context(), &n, query, args...))
	return n
}
