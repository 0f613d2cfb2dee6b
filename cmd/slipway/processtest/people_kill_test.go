package processtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

const (
	notifiedTesters = 10_000
	// notifiedWait is no target: `bench people` measures how fast mail leaves.
	notifiedWait = 5 * time.Minute
	// watchedDownloads are events for one webhook, of which the limit per minute keeps
	// none back.
	watchedDownloads = 200
)

// addNotified adds testers who may have every build of the app.
var addNotified = []string{
	`insert into users (uuid, username, email) select gen_random_uuid(), 'many' || n, 'tester' || n || '@example.com' from generate_series(1, $1::int) n`,
	`insert into memberships (organization_id, user_id, role)
		select o.id, u.id, 'tester' from organizations o, users u where u.username like 'many%' and $1::int > 0`,
	`update projects set all_testers = true where $1::int > 0`,
}

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
	for _, statement := range addNotified {
		_, err := c.db.ExecContext(t.Context(), statement, notifiedTesters)
		require.NoError(t, err)
	}
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
	server.mu.Lock()
	defer server.mu.Unlock()
	require.Len(t, server.people, notifiedTesters, "people who have a mail")
	for id, n := range server.byID {
		require.Equal(t, 1, n, "copies of the mail %s", id)
	}
	for person, n := range server.people {
		require.Equal(t, 1, n, "mails to %s", person)
	}
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

// uploadForPeople uploads an app and returns the id of its build.
func uploadForPeople(t *testing.T, at caller) string {
	t.Helper()
	body, contentType := form(t, field{name: "file", file: "shop.ipa", value: string(newIPA(t, "com.example.people", "1.0", "10"))})
	res, text := at.do(t, http.MethodPost, "/api/upload/", body.Bytes(), func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var up uploaded
	require.NoError(t, json.Unmarshal(text, &up))
	return up.BuildID
}

// mailCounter is a mail server that counts messages by Message-ID and by person, and
// keeps the last one of each person.
type mailCounter struct {
	address string

	mu     sync.Mutex
	byID   map[string]int
	people map[string]int
	last   map[string]string
	sum    int
}

func startMailCounter(t *testing.T) *mailCounter {
	t.Helper()
	m := &mailCounter{byID: map[string]int{}, people: map[string]int{}, last: map[string]string{}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &countedSession{counter: m}, nil }))
	server.Domain, server.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m.address = listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return m
}

func (m *mailCounter) total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum
}

// countedSession is one connection.
type countedSession struct {
	counter *mailCounter
	to      string
}

func (s *countedSession) Reset()                                    { s.to = "" }
func (s *countedSession) Logout() error                             { return nil }
func (s *countedSession) Mail(string, *smtp.MailOptions) error      { return nil }
func (s *countedSession) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }

func (s *countedSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := netmail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return err
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	s.counter.byID[strings.TrimSpace(message.Header.Get("Message-ID"))]++
	s.counter.people[s.to]++
	s.counter.last[s.to] = string(content)
	s.counter.sum++
	return nil
}
