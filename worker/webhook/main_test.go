package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
	"github.com/slipway-qa/slipway/worker"
	workwebhook "github.com/slipway-qa/slipway/worker/webhook"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// secret signs the deliveries of tests.
const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// received is a request that a receiver got.
type received struct {
	header http.Header
	body   string
	at     time.Time
}

// receiver is a server that keeps what it gets, and answers as the test says.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []received
	answer   func(w http.ResponseWriter, r *http.Request, n int) // n: requests before this one
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		n := len(r.requests)
		r.requests = append(r.requests, received{request.Header.Clone(), string(body), time.Now()})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, request, n)
		}
	}))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.requests...)
}

// world is a database with a handler, whose time stands still until it is moved.
type world struct {
	*fixture.Fixture
	deliver *workwebhook.Deliver
	mu      sync.Mutex
	shift   time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	w := &world{Fixture: fixture.New(t)}
	w.deliver = &workwebhook.Deliver{DB: w.DB, Caller: webhookcall.NewSender(guard), Keys: fixture.SealKey, Now: w.now,
		Log: slog.New(slog.DiscardHandler)}
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.shift)
}

// pass lets time pass for the handler.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shift += d
}

// hook makes an active webhook for all actions.
func (w *world) hook(url string, change webhook.Change) *webhook.Webhook {
	w.T.Helper()
	sealed, err := seal.Seal(fixture.SealKey, seal.Webhook, secret)
	require.NoError(w.T, err)
	active, name := webhook.Active, "hook"
	change.Name, change.URL, change.Status = &name, &url, &active
	if change.Actions == nil {
		all := []string{}
		for _, a := range webhook.Actions() {
			all = append(all, string(a))
		}
		change.Actions = &all
	}
	var made *webhook.Webhook
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = webhook.Create(ctx, tx, w.Org.Owner.Writer, webhook.V3(), change, sealed)
		return err
	})
	return made
}

func (w *world) emit(events ...webhook.Event) {
	w.T.Helper()
	for i := range events {
		if events[i].OrganizationID == 0 {
			events[i].OrganizationID = w.Org.ID
		}
	}
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return webhook.Emit(ctx, tx, events...) })
}

// work runs the open task of a webhook, whenever it is due; false when there is none.
func (w *world) work(id int64) bool {
	w.T.Helper()
	claimed := w.claim(id)
	if claimed == nil {
		return false
	}
	require.NoError(w.T, w.deliver.Handle(fixture.Context(w.T), claimed))
	return true
}

// claim claims the open task of a webhook; nil when there is none.
func (w *world) claim(id int64) *worker.Claim {
	w.T.Helper()
	var tasksOf []ledger.Task
	w.Exec(`update tasks set run_at = now() - interval '1 second' where kind = $1 and dedupe_key = $2::text and state = 'queued'`,
		tasks.WebhookDeliver.Name, id)
	rows, _, err := w.Ledger().List(fixture.Context(w.T), ledger.Filter{Kinds: []string{tasks.WebhookDeliver.Name},
		States: []ledger.State{ledger.Queued}, Limit: 1000})
	require.NoError(w.T, err)
	for _, row := range rows {
		p, err := worker.Payload[tasks.WebhookDeliverPayload](row)
		require.NoError(w.T, err)
		if p.WebhookID == id {
			tasksOf = w.Claim(row.Kind, row.ID, 0)
		}
	}
	if tasksOf == nil {
		return nil
	}
	return worker.NewClaim(w.DB, tasksOf)
}

func (w *world) read(id int64) *webhook.Webhook {
	w.T.Helper()
	row, err := webhook.ByID(fixture.Context(w.T), w.DB, w.Org.ID, id)
	require.NoError(w.T, err)
	return row
}

func (w *world) deliveries(id int64) []webhook.Delivery {
	w.T.Helper()
	rows, total, exact, err := webhook.Deliveries(fixture.Context(w.T), w.DB, id, webhook.DeliveryFilter{}, storage.FirstPage())
	require.NoError(w.T, err)
	require.True(w.T, exact)
	require.Len(w.T, rows, total)
	return rows
}
