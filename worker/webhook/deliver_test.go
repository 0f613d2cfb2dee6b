package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	workwebhook "github.com/slipway-qa/slipway/worker/webhook"
)

// verify checks a signature as the Standard Webhooks specification describes it, with
// nothing of the code that signs.
func verify(t *testing.T, r received) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", r.header.Get("webhook-id"), r.header.Get("webhook-timestamp"), r.body)
	require.Contains(t, strings.Fields(r.header.Get("webhook-signature")), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, nil)
	hook := w.hook(to.URL+"/hook?a=b", webhook.Change{})
	up := w.Upload(w.NewUpload(fixture.APK("com.example.shop", "1.2", "12")))
	w.emit(webhook.Event{Action: webhook.Upload, ProjectID: up.Project.ID, BuildID: up.Build.ID,
		At:   time.Date(2026, 3, 1, 10, 20, 30, 0, time.FixedZone("", 3600)),
		Data: map[string]any{"filesize": 7, "buildUrl": "https://qa.example.com/a?b=1&c=<2>"}})
	require.True(t, w.work(hook.ID))
	require.Len(t, to.all(), 1)
	got := to.all()[0]
	require.Equal(t, `{"event":"upload","timestamp":"2026-03-01 09:20:30","appName":"App","version":"1.2","build":"12",`+
		`"platform":"Android","buildId":`+
		fmt.Sprint(up.Build.ID)+`,"buildUrl":"https://qa.example.com/a?b=1&c=<2>","filesize":7}`, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "Slipway-Webhooks/1.0", got.header.Get("User-Agent"))
	verify(t, got)
	list := w.deliveries(hook.ID)
	require.Len(t, list, 1)
	require.Equal(t, list[0].ID.String(), got.header.Get("webhook-id"))
	require.Equal(t, webhook.Delivered, list[0].Status)
	require.Equal(t, got.body, *list[0].Body)
	require.Equal(t, 200, *list[0].LastStatus)
	require.False(t, w.work(hook.ID), "nothing is left, so that there is no task")
	require.NotNil(t, w.read(hook.ID).LastSuccessAt)
}

// Attempts of one delivery have its id and body, though the app is renamed meanwhile, and
// come later and later until its time is over.
func TestRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, _ int) {
		rw.WriteHeader(500)
		fmt.Fprint(rw, "went \x00wrong\x1b[31m "+strings.Repeat("é", 5000))
	})
	hook := w.hook(to.URL, webhook.Change{})
	up := w.Upload(w.NewUpload(fixture.APK("com.example.shop", "1.2", "12")))
	w.emit(webhook.Event{Action: webhook.Upload, ProjectID: up.Project.ID, BuildID: up.Build.ID})
	w.requireNextAfter(hook.ID, 5*time.Second)
	w.Exec(`update builds set app_name = 'renamed'`)
	d := w.deliveries(hook.ID)[0]
	require.Equal(t, webhook.Pending, d.Status)
	require.Equal(t, "the receiver answered 500", d.LastError)
	w.pass(-time.Hour)
	require.True(t, w.work(hook.ID), "there is a task for the next attempt")
	require.Len(t, to.all(), 1, "which is not due yet")
	w.pass(time.Hour)
	n := 1
	for ; n < 60 && w.deliveries(hook.ID)[0].Status == webhook.Pending; n++ {
		before := w.now()
		d := w.deliveries(hook.ID)[0]
		w.pass(max(d.NextAt.Sub(before), w.pause(hook.ID).Sub(before)) + time.Second)
		require.True(t, w.work(hook.ID))
	}
	requests := to.all()
	require.InDelta(t, 20, len(requests), 10)
	for _, r := range requests {
		require.Equal(t, requests[0].body, r.body)
		require.Equal(t, requests[0].header.Get("webhook-id"), r.header.Get("webhook-id"))
		verify(t, r)
	}
	d = w.deliveries(hook.ID)[0]
	require.Equal(t, webhook.Failed, d.Status)
	// The last attempt is due within 24 hours; while the webhook is put off, for two hours and a
	// fifth at most, it waits.
	require.Less(t, w.now(), d.ExpiresAt.Add(2*time.Hour+24*time.Minute+time.Minute))
	attempts, err := webhook.Attempts(fixture.Context(t), w.DB, d.ID)
	require.NoError(t, err)
	require.Len(t, attempts, len(requests))
	require.True(t, strings.HasPrefix(attempts[0].Response, "went wrong[31m é"), attempts[0].Response[:20])
	require.LessOrEqual(t, len(attempts[0].Response), 2048)
	require.False(t, w.work(hook.ID))
}

// requireNextAfter makes the first attempt, after which the next one must be due so much later, give
// or take a fifth: counted from some time between begin and end, and later when the first one was late.
func (w *world) requireNextAfter(id int64, want time.Duration) {
	w.T.Helper()
	begun := w.now()
	require.True(w.T, w.work(id))
	ended, d := w.now(), w.deliveries(id)[0]
	most := max(want, ended.Sub(d.ExpiresAt.Add(-webhook.Lifetime)))
	require.WithinRange(w.T, d.NextAt, begun.Add(want-want/5-time.Millisecond), ended.Add(most+most/5+time.Millisecond))
}

// pause is the end of a webhook's pause.
func (w *world) pause(id int64) time.Time {
	if at := w.read(id).RetryAt; at != nil {
		return *at
	}
	return time.Time{}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"90": 90 * time.Second, "99999999": time.Hour, "-5": 5 * time.Second,
		"soon": 5 * time.Second} {
		w := newWorld(t)
		to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, _ int) {
			rw.Header().Set("Retry-After", header)
			rw.WriteHeader(503)
		})
		hook := w.hook(to.URL, webhook.Change{})
		w.emit(webhook.Event{Action: webhook.Run})
		w.requireNextAfter(hook.ID, want)
	}
}

func TestGoneSuspends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, _ int) { rw.WriteHeader(410) })
	hook := w.hook(to.URL, webhook.Change{})
	var told []string
	w.deliver.Notify = func(_ context.Context, _ *storage.Tx, w *webhook.Webhook, reason string) error {
		told = append(told, w.Name+": "+reason)
		return nil
	}
	w.emit(webhook.Event{Action: webhook.Run}, webhook.Event{Action: webhook.Schedule})
	require.True(t, w.work(hook.ID))
	after := w.read(hook.ID)
	require.Equal(t, webhook.Suspended, after.Status)
	require.Equal(t, "the receiver answered 410 Gone", after.SuspendedReason)
	require.Equal(t, []string{"hook: the receiver answered 410 Gone"}, told)
	require.Equal(t, 1, w.Audited(account.WebhookSuspended))
	for _, d := range w.deliveries(hook.ID) {
		require.Equal(t, webhook.Failed, d.Status)
	}
	w.emit(webhook.Event{Action: webhook.Run})
	require.Len(t, w.deliveries(hook.ID), 2, "a suspended webhook gets no events")
	require.False(t, w.work(hook.ID))
}

func TestFiveDaysOfFailuresSuspend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, _ int) { rw.WriteHeader(500) })
	hook := w.hook(to.URL, webhook.Change{})
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	w.Exec(`update webhooks set failing_since = now() - interval '4 days 23 hours'`)
	w.pass(time.Minute)
	require.True(t, w.work(hook.ID))
	require.Equal(t, webhook.Active, w.read(hook.ID).Status)
	w.pass(2 * time.Hour)
	require.True(t, w.work(hook.ID))
	require.Equal(t, webhook.Suspended, w.read(hook.ID).Status)
	require.Equal(t, "no delivery succeeded for five days", w.read(hook.ID).SuspendedReason)

	status := webhook.Active
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := webhook.Update(ctx, tx, w.Org.Owner.Writer, webhook.V3(), hook.ID, webhook.Change{Status: &status})
		return err
	})
	after := w.read(hook.ID)
	require.Nil(t, after.FailingSince, "a webhook that people made active begins anew")
	require.Zero(t, after.Failures)
	require.Empty(t, after.SuspendedReason)
}

// An address that hangs gets one request, however many events wait, and is put off; the
// rest waits in the database. When it answers again, all is delivered.
func TestHangingReceiverGetsOneRequestAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hang, entered := make(chan struct{}), make(chan struct{}, 100)
	to := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, n int) {
		if n > 0 {
			return
		}
		entered <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	hook := w.hook(to.URL, webhook.Change{})
	w.deliver.Slots = 1 // so that the request gives its slot up after a second
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	<-entered
	d := w.deliveries(hook.ID)[0]
	require.Contains(t, d.LastError, "many receivers were slow")
	after := w.read(hook.ID)
	require.Equal(t, 1, after.Failures)
	require.NotNil(t, after.RetryAt)

	for range 30 {
		w.emit(webhook.Event{Action: webhook.Run})
	}
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = $1 and state = 'queued'`, tasks.WebhookDeliver.Name))
	require.Equal(t, 1, w.Count(`select count(*) from tasks where queue = $1 and state = 'queued' and run_at > now() + interval '2 seconds'`,
		tasks.WebhookSlow))
	require.True(t, w.work(hook.ID))
	require.Len(t, to.all(), 1, "put off as a whole")
	close(hang)
	w.pass(time.Minute)
	require.True(t, w.work(hook.ID))
	require.Len(t, to.all(), 32)
	require.Zero(t, w.read(hook.ID).Failures)
	require.Nil(t, w.read(hook.ID).RetryAt)
	require.False(t, w.work(hook.ID))
}

// An event that comes while the task of its webhook runs, or waits, is not left behind.
func TestEventsDuringATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var emitted bool
	to := newReceiver(t, func(http.ResponseWriter, *http.Request, int) {
		if !emitted {
			emitted = true
			w.emit(webhook.Event{Action: webhook.Schedule})
		}
	})
	hook := w.hook(to.URL, webhook.Change{})
	w.emit(webhook.Event{Action: webhook.Run})
	for w.work(hook.ID) {
	}
	require.Len(t, to.all(), 2)
	require.Zero(t, w.Count(`select count(*) from webhook_deliveries where status = 'pending'`))
}

func TestWakesAWaitingTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, n int) {
		if n == 0 {
			rw.WriteHeader(400)
		}
	})
	hook := w.hook(to.URL, webhook.Change{})
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	const waiting = `select count(*) from tasks where kind = $1 and state = 'queued' and run_at > now()`
	require.Equal(t, 1, w.Count(waiting, tasks.WebhookDeliver.Name))
	w.emit(webhook.Event{Action: webhook.Run})
	require.Zero(t, w.Count(waiting, tasks.WebhookDeliver.Name), "one refused event does not hold up the others")
}

// A worker that is killed after the request sends again, with the same id.
func TestKilledWorkerSendsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, nil)
	hook := w.hook(to.URL, webhook.Change{})
	w.emit(webhook.Event{Action: webhook.Run})
	lost := w.claim(hook.ID)
	w.Rescue(lost.Tasks[0].ID)
	require.ErrorIs(t, w.deliver.Handle(fixture.Context(t), lost), storage.ErrStale)
	require.Equal(t, webhook.Pending, w.deliveries(hook.ID)[0].Status, "a stale worker records nothing")
	require.True(t, w.work(hook.ID))
	requests := to.all()
	require.Len(t, requests, 2)
	require.Equal(t, requests[0].header.Get("webhook-id"), requests[1].header.Get("webhook-id"))
	require.Equal(t, requests[0].body, requests[1].body)
	require.Equal(t, webhook.Delivered, w.deliveries(hook.ID)[0].Status)
}

func TestTwoSignaturesWhileASecretRotates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, nil)
	hook := w.hook(to.URL, webhook.Change{})
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := webhook.Rotate(ctx, tx, w.Org.Owner.Writer, hook.ID, hook.Secret, w.now().Add(time.Hour))
		return err
	})
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	w.pass(2 * time.Hour)
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	requests := to.all()
	require.Len(t, strings.Fields(requests[0].header.Get("webhook-signature")), 2)
	require.Len(t, strings.Fields(requests[1].header.Get("webhook-signature")), 1)
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.hook("http://127.0.0.1:1/", webhook.Change{})
	for range 3 {
		w.emit(webhook.Event{Action: webhook.Run})
	}
	ids := w.deliveries(hook.ID)
	w.Exec(`update webhook_deliveries set expires_at = now() - interval '1 second' where id = $1`, ids[0].ID)
	w.Exec(`update webhook_deliveries set created_at = now() - interval '31 days' where id = $1`, ids[1].ID)
	w.Exec(`delete from tasks`)
	m, err := workwebhook.NewMaintenance(w.DB, 30*24*time.Hour)
	require.NoError(t, err)
	task := w.Insert(tasks.NewMaintenance(tasks.WebhookMaintenance))
	require.NoError(t, m.Handle(fixture.Context(t), worker.NewClaim(w.DB, w.Claim(tasks.WebhookMaintenance.Name, task, 0))))
	var result workwebhook.MaintenanceResult
	w.Result(task, &result)
	require.Equal(t, workwebhook.MaintenanceResult{Expired: 1, Deleted: 1}, result)
	left := w.deliveries(hook.ID)
	require.Len(t, left, 2)
	require.Equal(t, webhook.Failed, left[0].Status)
	require.Equal(t, "no attempt succeeded within 24 hours", left[0].LastError)
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = $1 and state = 'queued'`, tasks.WebhookDeliver.Name))
	_, err = workwebhook.NewMaintenance(w.DB, time.Hour)
	require.Error(t, err)
}
