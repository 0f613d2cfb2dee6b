package processtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// Each of these tests kills one process at one moment, which an event or a lock holds. The
// soak tests kill many at any time.

// few testers have a mail each.
const few = 12

// TestMailOfAKilledWorker kills the worker while it writes the mails of a build, and the
// next one when the mail server has mails of which the worker has not heard so: each tester
// has one mail, nobody two, nobody none.
func TestMailOfAKilledWorker(t *testing.T) {
	t.Parallel()
	server := startMailCounter(t)
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_SMTP_URL=smtp://"+server.address+"?tls=none",
		"SLIPWAY_MAIL_JOURNAL="+filepath.Join(t.TempDir(), "journal"))
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	build := uploadForPeople(t, at)
	c.addNotified(t, few)
	free := hold(t, c, `lock table mails in exclusive mode`)
	first, _ := c.tier(t, "worker")
	res, text := at.do(t, http.MethodPost, fmt.Sprintf("/api/v3/builds/%s/notify-testers", build), nil, nil)
	require.Equal(t, http.StatusAccepted, res.StatusCode, "%s", text)
	awaitBlocked(t, c, "insert into mails")
	first.kill()
	taken, answer := server.holdAnswers()
	free()
	require.Zero(t, c.count(t, `select count(*) from mails`), "what the dead worker wrote is undone")

	second, _ := c.tier(t, "worker")
	<-taken
	second.kill()
	answer()
	c.tier(t, "worker")
	c.awaitTasks(t, "build:notify", "mail:send")
	require.Equal(t, few, c.count(t, `select count(*) from mails`))
	server.requireOneEach(t, few)
}

// TestWebhookOfAKilledWorker kills the worker when a receiver has an event and has not
// answered: the event comes again, with the same id.
func TestWebhookOfAKilledWorker(t *testing.T) {
	t.Parallel()
	came, answer := make(chan string, 10), make(chan struct{})
	var first sync.Once
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return
		}
		came <- r.Header.Get("Webhook-Id")
		first.Do(func() {
			select {
			case <-answer:
			case <-r.Context().Done():
			}
		})
	}))
	t.Cleanup(receiver.Close)
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true")
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	build := uploadForPeople(t, at)
	res, text := at.do(t, http.MethodPost, "/api/v3/webhooks",
		[]byte(`{"name":"all","url":"`+receiver.URL+`","actions":["download"]}`), asJSON)
	require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
	res, text = at.do(t, http.MethodGet, "/api/v3/builds/"+build+"/download", nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)

	worker, _ := c.tier(t, "worker")
	id := <-came
	worker.kill()
	close(answer)
	c.tier(t, "worker")
	require.Equal(t, id, <-came)
	eventually(t, "the delivery ended well", func() bool {
		return c.count(t, `select count(*) from webhook_deliveries where status = 'delivered'`) == 1
	})
	require.Empty(t, came)
}

// TestTickOfAKilledWorker kills the worker in the transaction in which a schedule fires:
// the next one fires it, and it has fired once.
func TestTickOfAKilledWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	// Without the queue of runs, so that no browser is needed.
	c.variables = append(c.variables, "SLIPWAY_WORKER_POOLS=2:schedule=1;4:critical=6,default=3;1:bulk=1")
	c.addSuites(t, 1)
	c.tier(t, "scheduler")
	free := hold(t, c, `lock table test_schedule_firings in exclusive mode`)
	first, _ := c.tier(t, "worker")
	var want []due
	require.NoError(t, c.db.SelectContext(t.Context(), &want, addDueSchedules, 1, 1))
	awaitBlocked(t, c, "insert into test_schedule_firings")
	first.kill()
	free()
	require.Zero(t, c.count(t, `select count(*) from test_schedule_firings`), "what the dead worker wrote is undone")
	c.tier(t, "worker")
	eventually(t, "the schedule has fired", func() bool { return c.count(t, `select count(*) from test_schedule_firings`) > 0 })
	c.awaitTasks(t, "schedule:tick")
	c.checkFires(t, want)
}

// TestRedisForgetsAReport empties Redis when a report waits there for a worker.
func TestRedisForgetsAReport(t *testing.T) {
	t.Parallel()
	address := servicetest.RedisURL(t)
	c := newCluster(t, servicetest.DatabaseURL(t), address)
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	at.post(t, c.token, sample(uuid.New(), "ForgottenError", "forgotten"))
	opt, err := redis.ParseURL(address)
	require.NoError(t, err)
	client := redis.NewClient(opt)
	defer client.Close()
	eventually(t, "the delivery is in Redis", func() bool {
		n, err := client.LLen(context.Background(), "asynq:{crash}:pending").Result()
		return err == nil && n > 0
	})
	require.NoError(t, client.FlushDB(t.Context()).Err())
	c.tier(t, "worker")
	at.awaitGroup(t, "ForgottenError", 1)
}

// awaitTasks waits until the tasks of some kinds have ended.
func (c *cluster) awaitTasks(t *testing.T, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		eventually(t, "tasks "+kind+" end", func() bool {
			return c.count(t, `select count(*) from tasks where kind = $1 and state in ('queued', 'running')`, kind) == 0
		})
	}
}
