package processtest

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// TestRunsSurviveTheirWorker kills the worker of a run, and stops the next one
// politely in the middle of another: both runs go on elsewhere. The browsers are
// those of a hub.
func TestRunsSurviveTheirWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true", "SLIPWAY_WEBDRIVER_URL="+startDriver(t),
		"SLIPWAY_WORKER_DRAIN=100ms")
	var key json.RawMessage
	answer(t, c.variables, &key, "admin", "key", "create", "acme", "ada@example.com", "--kind", "access")
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	s := &runStory{tester: tester{base: at.base, user: c.owned(t), key: secretIn(t, key)}, t: t, site: newSite(t)}
	target := obj{"capabilities": obj{"browserName": "chrome", "goog:chromeOptions": obj{
		"args": append(localservice.BrowserArguments(), "--headless=new")}}}
	id := s.add("Slow", []obj{openPage(s.site.URL + "/"), fill("#user", "ada"), fill("#password", "correct horse"),
		click("#login"), assertText("h1", "Hello ada")},
		obj{"runSettings": obj{"target": target}}).ID

	worker, _ := c.tier(t, "worker")
	for _, end := range []func(){
		worker.kill,
		func() { require.Zero(t, worker.signal(t, os.Interrupt)) },
	} {
		visits, release := s.site.visits(), s.site.hold()
		var r ran
		s.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+id+"/run", nil, &r)
		eventually(t, "the run is in the middle", func() bool { return s.site.visits() > visits })
		end()
		release()
		worker, _ = c.tier(t, "worker")
		r = s.wait("/testcases/" + id + "/runs/" + r.ID)
		require.Equal(t, "PASSED", r.Status, "%+v", r)
		require.GreaterOrEqual(t, c.count(t, `select attempt from tasks where id = $1`, r.Jobs[0].ID), 2)
		require.Equal(t, 5, len(r.Jobs[0].Steps))
		require.Equal(t, 1, c.count(t, `select count(*) from events where subject = $1`, r.ID))
	}
}

// owned is the user name of the organization's owner.
func (c *cluster) owned(t *testing.T) string {
	t.Helper()
	var name string
	require.NoError(t, c.db.GetContext(t.Context(), &name, `select username from users where email = 'ada@example.com'`))
	return name
}

// startDriver runs a chromedriver of its own, as a hub.
func startDriver(t *testing.T) string {
	t.Helper()
	folder, err := localservice.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, folder.Close(ctx))
	})
	driver, err := folder.Chromedriver(t.Context(), localservice.ChromedriverConfig{})
	require.NoError(t, err)
	return driver.URL()
}
