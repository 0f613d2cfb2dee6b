//go:build soak

package processtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

const (
	notifiedTesters = 10_000
	// notifiedWait is no target: `bench people` measures how fast mail leaves.
	notifiedWait = 15 * time.Minute
	// watchedDownloads are events for one webhook, of which the limit per minute keeps
	// none back.
	watchedDownloads = 200
)

// TestNotifyKilled kills the worker while it notifies 10,000 testers: first while it
// writes the mails, then while it sends them. The mail server counts: each tester has
// one mail, nobody two, nobody none.
func TestNotifyKilled(t *testing.T) {
	t.Parallel()
	server := startMailCounter(t)
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_SMTP_URL=smtp://"+server.address+"?tls=none",
		"SLIPWAY_MAIL_JOURNAL="+filepath.Join(t.TempDir(), "journal"))
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	build := uploadForPeople(t, at)
	c.addNotified(t, notifiedTesters)
	worker, _ := c.tier(t, "worker")
	res, text := at.do(t, http.MethodPost, fmt.Sprintf("/api/v3/builds/%s/notify-testers", build), nil, nil)
	require.Equal(t, http.StatusAccepted, res.StatusCode, "%s", text)

	written := func() int { return c.count(t, `select count(*) from mails`) }
	within(t, notifiedWait, "mails are being written", func() bool { return written() > 0 })
	worker.kill()
	for _, reached := range []int{1000, 3000, 6000, 9000} {
		worker, _ = c.tier(t, "worker")
		within(t, notifiedWait, fmt.Sprintf("%d mails arrived", reached), func() bool { return server.total() >= reached })
		worker.kill()
	}
	c.tier(t, "worker")
	within(t, notifiedWait, "all work is done", func() bool {
		return c.count(t, `select count(*) from tasks where kind in ('build:notify', 'mail:send') and state in ('queued', 'running')`) == 0
	})
	require.Equal(t, notifiedTesters, written(), "mails")
	server.requireOneEach(t, notifiedTesters)
}

// TestWebhookDeliveriesKilled kills the worker while it delivers events: each event
// arrives, and a second copy has the id of the first, so that a receiver can drop it.
func TestWebhookDeliveriesKilled(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	bodies := map[string]string{} // by webhook-id
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the worker was killed while it sent the body
		}
		time.Sleep(20 * time.Millisecond) // the time of a receiver; a kill finds requests on their way
		mu.Lock()
		defer mu.Unlock()
		bodies[r.Header.Get("Webhook-Id")] = string(body)
	}))
	t.Cleanup(receiver.Close)
	arrived := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(bodies)
	}
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true")
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	build := uploadForPeople(t, at)
	res, text := at.do(t, http.MethodPost, "/api/v3/webhooks",
		[]byte(`{"name":"all","url":"`+receiver.URL+`","actions":["download"]}`), asJSON)
	require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
	for range watchedDownloads {
		res, text := at.do(t, http.MethodGet, "/api/v3/builds/"+build+"/download", nil, nil)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	}
	for _, reached := range []int{1, watchedDownloads / 4, watchedDownloads / 2} {
		worker, _ := c.tier(t, "worker", "SLIPWAY_WORKER_POOLS=4:webhook=1;2:webhook-slow=1;2:critical=6,default=3")
		within(t, longWait, fmt.Sprintf("%d events arrived", reached), func() bool { return arrived() >= reached })
		worker.kill()
	}
	c.tier(t, "worker")
	within(t, notifiedWait, "all events arrived", func() bool { return arrived() >= watchedDownloads })
	within(t, notifiedWait, "all deliveries ended well", func() bool {
		return c.count(t, `select count(*) from webhook_deliveries where status = 'delivered'`) == watchedDownloads
	})
	require.Equal(t, watchedDownloads, arrived(), "webhook-ids")
	mu.Lock()
	defer mu.Unlock()
	for id, body := range bodies {
		require.Contains(t, body, `"event":"download"`, "%s", id)
	}
}

// total is the number of messages so far.
func (m *mailCounter) total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum
}
