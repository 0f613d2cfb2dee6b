package mail

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is a database with one organization.
type world struct {
	t      *testing.T
	db     *storage.DB
	ledger *ledger.Store
	org    int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	w.ledger = ledger.New(w.db)
	require.NoError(t, w.db.GetContext(t.Context(), &w.org,
		`insert into organizations (uuid, slug, name) values ($1, 'one', 'One') returning id`, uuid.New()))
	return w
}

// write stores a mail with its task.
func (w *world) write() (id, task uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		id, err = mail.Insert(w.t.Context(), tx, mail.New{OrganizationID: w.org, Kind: "new-build", Recipient: "ann@example.org",
			Subject: "Subject", TextBody: "text", HTMLBody: "<p>html</p>"})
		if err != nil {
			return err
		}
		send := tasks.NewMailSend(w.org, "r", id)
		_, err = ledger.Insert(w.t.Context(), tx, send)
		task = send.ID
		return err
	}))
	return id, task
}

func (w *world) claim(task uuid.UUID) *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: task, Kind: tasks.MailSend.Name, Worker: "test"})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	return worker.NewClaim(w.db, claimed)
}

// reclaim claims a task again whose worker's heartbeat has expired.
func (w *world) reclaim(task uuid.UUID) *worker.Claim {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update tasks set heartbeat_at = now() - interval '1 hour' where id = $1`, task)
	require.NoError(w.t, err)
	rescued, err := w.ledger.Rescue(w.t.Context(), time.Minute)
	require.NoError(w.t, err)
	require.Len(w.t, rescued, 1)
	return w.claim(task)
}

func (w *world) mail(id uuid.UUID) *mail.Mail {
	w.t.Helper()
	m, err := mail.ByID(w.t.Context(), w.db, id)
	require.NoError(w.t, err)
	return m
}

func (w *world) taskResult(task uuid.UUID) Result {
	w.t.Helper()
	row, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, task)
	require.NoError(w.t, err)
	require.Equal(w.t, ledger.Succeeded, row.State)
	var out Result
	require.NoError(w.t, json.Unmarshal(*row.Result, &out))
	return out
}

// fakeTransport is a Transport that counts.
type fakeTransport struct {
	sent []*mail.Mail
	err  error
}

func (c *fakeTransport) Send(_ context.Context, m *Outgoing) error {
	if c.err == nil {
		c.sent = append(c.sent, m.Mail)
	}
	return c.err
}

func TestSendOverSMTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := startMailServer(t, nil, false)
	s := &Send{DB: w.db, Transport: o.transport(t, "smtp://ann:s3cret@HOST")}
	id, task := w.write()
	claim := w.claim(task)
	require.NoError(t, s.Handle(t.Context(), claim))
	require.Equal(t, mail.Sent, w.taskResult(task).State)
	m := w.mail(id)
	require.Equal(t, mail.Sent, m.State)
	require.NotNil(t, m.SentAt)
	require.Empty(t, m.Error)
	require.Len(t, o.received(), 1)
	require.Contains(t, string(o.received()[0].data), id.String()+"@example.com")

	require.ErrorIs(t, s.Handle(t.Context(), claim), storage.ErrStale)
	require.Len(t, o.received(), 1, "a claim that is lost sends nothing")
}

func TestKeptWithoutServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &Send{DB: w.db, Transport: Keep{}}
	id, task := w.write()
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, mail.Kept, w.taskResult(task).State)
	require.Equal(t, mail.Kept, w.mail(id).State)
	require.Nil(t, w.mail(id).SentAt)
}

// Without a journal: when a worker is killed after it sent the mail and before it
// stored that, the next one sends the same mail again; otherwise it does not.
func TestSendTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &fakeTransport{}
	s := &Send{DB: w.db, Transport: c}
	id, task := w.write()
	first := w.claim(task)
	require.NoError(t, c.Send(t.Context(), &Outgoing{Mail: w.mail(id)}))
	second := w.reclaim(task)
	require.ErrorIs(t, s.Handle(t.Context(), first), storage.ErrStale)
	require.Len(t, c.sent, 1)
	require.NoError(t, s.Handle(t.Context(), second))
	require.Len(t, c.sent, 2)
	require.Equal(t, c.sent[0], c.sent[1])

	id, task = w.write()
	require.NoError(t, mail.SetState(t.Context(), w.db, id, mail.Sent, ""))
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Len(t, c.sent, 2, "sent already")
	require.Equal(t, mail.Sent, w.taskResult(task).State)
}

func (w *world) task(id uuid.UUID) *ledger.Task {
	w.t.Helper()
	row, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, id)
	require.NoError(w.t, err)
	return row
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), statement, args...)
	require.NoError(w.t, err)
}

func TestSendRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &fakeTransport{err: &RefusedError{Code: 550, Status: "5.1.1", Text: "no such user", Address: true}}
	s := &Send{DB: w.db, Transport: c}
	id, task := w.write()
	claim := w.claim(task)
	require.NoError(t, s.Handle(t.Context(), claim))
	require.Equal(t, ledger.Dead, w.task(task).State)
	require.Equal(t, "the mail server refused the mail: 550 no such user", *w.task(task).Error)
	require.Equal(t, mail.Failed, w.mail(id).State)
	require.Equal(t, *w.task(task).Error, w.mail(id).Error)
	require.ErrorIs(t, s.Handle(t.Context(), claim), storage.ErrStale)

	list, total, err := mail.Suppressions(t.Context(), w.db, w.org, "ANN@", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, []string{"ann@example.org", "smtp", "5.1.1", "no such user"},
		[]string{list[0].Email, list[0].Source, list[0].Status, list[0].Detail})

	c.err = nil // a retry by hand of a marked address
	w.exec(`update tasks set state = 'queued', finished_at = null where id = $1`, task)
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, mail.Suppressed, w.mail(id).State)
	w.exec(`delete from mail_suppressions`)
	w.exec(`update tasks set state = 'queued', finished_at = null where id = $1`, task)
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, mail.Sent, w.mail(id).State)
	require.Empty(t, w.mail(id).Error)
}

// A refusal that says nothing about the person does not mark the address.
func TestPolicyMarksNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &Send{DB: w.db, Transport: &fakeTransport{err: &RefusedError{Code: 550, Status: "5.7.1", Text: "policy"}}}
	id, task := w.write()
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, mail.Failed, w.mail(id).State)
	_, total, err := mail.Suppressions(t.Context(), w.db, w.org, "", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Zero(t, total)
}

func TestSendFailsForNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := &Send{DB: w.db, Transport: &fakeTransport{err: errors.New("connection\nrefused" + strings.Repeat("x", 2000))}}
	id, task := w.write()
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, ledger.Queued, w.task(task).State)
	require.Greater(t, w.task(task).RunAt, time.Now().Add(time.Second), "put off")
	require.Equal(t, mail.Queued, w.mail(id).State)

	// A worker that is stopped returns the task: that is no failure.
	w.exec(`update tasks set max_attempts = 2, run_at = now() where id = $1`, task)
	stopped, stop := context.WithCancel(t.Context())
	s.Transport = stoppingTransport{stop}
	require.NoError(t, s.Handle(stopped, w.claim(task)))
	require.Equal(t, mail.Queued, w.mail(id).State)
	require.Equal(t, ledger.Queued, w.task(task).State)

	s.Transport = &fakeTransport{err: errors.New("connection\nrefused" + strings.Repeat("x", 2000))}
	require.NoError(t, s.Handle(t.Context(), w.claim(task)), "the last attempt")
	require.Equal(t, ledger.Dead, w.task(task).State)
	require.Equal(t, mail.Failed, w.mail(id).State)
	require.True(t, strings.HasPrefix(w.mail(id).Error, "connection refusedxxx"))
	require.LessOrEqual(t, len(w.mail(id).Error), maxReason+3)
}

// stoppingTransport is a Transport during whose work the worker is stopped.
type stoppingTransport struct{ stop context.CancelFunc }

func (s stoppingTransport) Send(ctx context.Context, _ *Outgoing) error {
	s.stop()
	return ctx.Err()
}

// What was handed over is stored, also when the worker is stopped by then.
func TestSentIsStoredAtTheStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, task := w.write()
	ctx, stop := context.WithCancel(t.Context())
	require.NoError(t, (&Send{DB: w.db, Transport: lateTransport{stop}}).Handle(ctx, w.claim(task)))
	require.Equal(t, mail.Sent, w.mail(id).State)
}

// lateTransport is a Transport that has sent when the worker is stopped.
type lateTransport struct{ stop context.CancelFunc }

func (l lateTransport) Send(context.Context, *Outgoing) error {
	l.stop()
	return nil
}

func TestSendOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &fakeTransport{}
	s := &Send{DB: w.db, Transport: c}
	id, task := w.write()
	_, err := w.db.ExecContext(t.Context(), `delete from mails where id = $1`, id)
	require.NoError(t, err)
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, stateDeleted, w.taskResult(task).State)
	require.Empty(t, c.sent)

	_, task = w.write()
	_, err = w.db.ExecContext(t.Context(), `update tasks set payload = '{}' where id = $1`, task)
	require.NoError(t, err)
	require.NoError(t, s.Handle(t.Context(), w.claim(task)))
	require.Equal(t, ledger.Dead, w.task(task).State)
}
