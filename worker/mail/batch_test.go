package mail

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// writeTo stores a mail to an address with its task.
func (w *world) writeTo(recipient string, change func(*mail.New)) (id, task uuid.UUID) {
	w.t.Helper()
	n := mail.New{OrganizationID: w.org, Kind: "new-build", Recipient: recipient, Subject: "Subject", TextBody: "text",
		HTMLBody: "<p>html</p>"}
	if change != nil {
		change(&n)
	}
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		if id, err = mail.Insert(w.t.Context(), tx, n); err != nil {
			return err
		}
		send := tasks.NewMailSend(w.org, "r", id)
		_, err = ledger.Insert(w.t.Context(), tx, send)
		task = send.ID
		return err
	}))
	return id, task
}

// claimAll claims all due tasks as a worker does.
func (w *world) claimAll() *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: uuid.New(), Kind: tasks.MailSend.Name, OrganizationID: w.org,
		Worker: "test", Batch: tasks.MailSend.Batch, MaxWeight: tasks.MailSend.MaxWeight})
	require.NoError(w.t, err)
	require.NotEmpty(w.t, claimed)
	return worker.NewClaim(w.db, claimed)
}

// choosyTransport replies by the recipient.
type choosyTransport struct {
	mu      sync.Mutex
	replies map[string]error
	sent    []string
}

func (c *choosyTransport) Send(_ context.Context, m *Outgoing) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Recipient == "panic@example.org" {
		panic("broken")
	}
	if m.Ending != nil {
		m.Ending()
	}
	if err := c.replies[m.Recipient]; err != nil {
		return err
	}
	c.sent = append(c.sent, m.Recipient)
	return nil
}

// The mails of one claim fare differently, and each outcome is that mail's own.
func TestBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	transport := &choosyTransport{replies: map[string]error{
		"refused@example.org": &RefusedError{Code: 554, Status: "5.6.0", Text: "no"},
		"unknown@example.org": &RefusedError{Code: 550, Status: "5.1.1", Text: "unknown", Address: true},
		"later@example.org":   errors.New("come again"),
	}}
	s := &Send{DB: w.db, Transport: transport, Log: slog.New(slog.DiscardHandler)}
	want := map[string]struct {
		mail mail.State
		task ledger.State
	}{
		"a@example.org": {mail.Sent, ledger.Succeeded}, "b@example.org": {mail.Sent, ledger.Succeeded},
		"refused@example.org": {mail.Failed, ledger.Dead}, "unknown@example.org": {mail.Failed, ledger.Dead},
		"later@example.org": {mail.Queued, ledger.Queued}, "panic@example.org": {mail.Queued, ledger.Queued},
	}
	ids, rows := map[string]uuid.UUID{}, map[string]uuid.UUID{}
	for to := range want {
		ids[to], rows[to] = w.writeTo(to, nil)
	}
	require.NoError(t, s.Handle(t.Context(), w.claimAll()))
	for to, states := range want {
		require.Equal(t, states.mail, w.mail(ids[to]).State, to)
		require.Equal(t, states.task, w.task(rows[to]).State, to)
	}
	require.ElementsMatch(t, []string{"a@example.org", "b@example.org"}, transport.sent)
	list, total, err := mail.Suppressions(t.Context(), w.db, w.org, "", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, "unknown@example.org", list[0].Email)
}

// Who unsubscribed or bounced after the mail was written gets none; transactional mail
// goes to those who unsubscribed.
func TestSendLeavesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var users []int64
	for _, name := range []string{"ann", "bob"} {
		require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
			u, err := account.CreateUser(t.Context(), tx, account.Actor{Name: "test"}, account.NewUser{OrganizationID: w.org,
				Email: name + "@example.org", Role: account.Tester})
			if err != nil {
				return err
			}
			users = append(users, u.ID)
			return mail.SetUnsubscribed(t.Context(), tx, account.Actor{Name: "test"}, w.org, u.ID, true)
		}))
	}
	w.exec(`insert into mail_suppressions (organization_id, email, source) values ($1, 'gone@example.org', 'smtp')`, w.org)
	chosen, _ := w.writeTo("ann@example.org", func(n *mail.New) { n.UserID, n.Unsubscribe = users[0], "https://x/u" })
	needed, _ := w.writeTo("bob@example.org", func(n *mail.New) { n.UserID = users[1] })
	gone, _ := w.writeTo("Gone@Example.org", nil)
	transport := &choosyTransport{}
	require.NoError(t, (&Send{DB: w.db, Transport: transport}).Handle(t.Context(), w.claimAll()))
	require.Equal(t, []string{"bob@example.org"}, transport.sent)
	require.Equal(t, mail.Suppressed, w.mail(chosen).State)
	require.Equal(t, "not sent: unsubscribed", w.mail(chosen).Error)
	require.Equal(t, mail.Sent, w.mail(needed).State)
	require.Equal(t, "not sent: bounced", w.mail(gone).Error)
}

// What is over the rate waits for the next minute, whether it is claimed or not.
func TestRate(t *testing.T) {
	t.Parallel()
	for _, installation := range []bool{false, true} {
		w := newWorld(t)
		transport := &choosyTransport{}
		s := &Send{DB: w.db, Transport: transport}
		if installation {
			s.Rate = 3
		} else {
			w.exec(`insert into mail_settings (organization_id, rate_per_minute) values ($1, 3)`, w.org)
		}
		for range 5 {
			w.writeTo("ann@example.org", nil)
		}
		// All of this minute, if it ends while the test runs.
		w.exec(`insert into mail_rates (scope, minute, used) values ($1, date_trunc('minute', now()) , 0)`,
			map[bool]int64{false: w.org, true: 0}[installation])
		require.NoError(t, s.Handle(t.Context(), w.claimAll()))
		require.Len(t, transport.sent, 3)
		var waiting int
		require.NoError(t, w.db.GetContext(t.Context(), &waiting, `select count(*) from tasks where kind = 'mail:send' and state = 'queued'
			and run_at > now() and run_at <= now() + interval '61 seconds' and attempt < max_attempts`))
		require.Equal(t, 2, waiting)

		// Somebody who waits does not stand behind it.
		id, task := w.writeTo("bob@example.org", nil)
		s.Urgent = true
		require.NoError(t, s.Handle(t.Context(), w.claim(task)))
		require.Equal(t, mail.Sent, w.mail(id).State)
	}
}

// dyingTransport hands a mail over, after which the process ends: the outcome is not
// recorded.
type dyingTransport struct{ after func(*Outgoing) error }

func (d dyingTransport) Send(_ context.Context, m *Outgoing) error { return d.after(m) }

func TestJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "journal")
	first, err := OpenJournal(folder, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	send := func(transport Transport) *Send { return &Send{DB: w.db, Transport: transport, Journal: first} }

	// Killed after the end of the message was written: it is not sent again.
	id, task := w.write()
	claim := w.claim(task)
	b, err := send(dyingTransport{func(m *Outgoing) error { m.Ending(); return nil }}).load(t.Context(), claim)
	require.NoError(t, err)
	b.run(t.Context()) // and nothing is recorded
	second, err := OpenJournal(folder, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	transport := &choosyTransport{}
	require.NoError(t, (&Send{DB: w.db, Transport: transport, Journal: second}).Handle(t.Context(), w.reclaim(task)))
	require.Empty(t, transport.sent)
	require.Equal(t, mail.Sent, w.mail(id).State)
	require.Contains(t, w.mail(id).Error, "handed over; the worker ended")

	// Killed before it: it is sent.
	id, task = w.write()
	b, err = send(dyingTransport{func(*Outgoing) error { return nil }}).load(t.Context(), w.claim(task))
	require.NoError(t, err)
	b.run(t.Context())
	require.NoError(t, (&Send{DB: w.db, Transport: transport, Journal: second}).Handle(t.Context(), w.reclaim(task)))
	require.Len(t, transport.sent, 1)
	require.Equal(t, mail.Sent, w.mail(id).State)

	// The server refused the end for now: it is sent again.
	_, task = w.write()
	require.NoError(t, send(dyingTransport{func(m *Outgoing) error { m.Ending(); return errors.New("disk full") }}).Handle(t.Context(),
		w.claim(task)))
	w.exec(`update tasks set run_at = now() where id = $1`, task)
	require.NoError(t, (&Send{DB: w.db, Transport: transport, Journal: second}).Handle(t.Context(), w.claim(task)))
	require.Len(t, transport.sent, 2)
}

func TestJournalFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old := filepath.Join(folder, "1.journal")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now().Add(-journalAge-time.Hour)))
	j, err := OpenJournal(folder, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoFileExists(t, old)
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	j.Note(a)
	j.Note(b)
	j.written = journalFile // the next record begins a new file
	j.Retract(b)
	j.Note(c)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cut.journal"), append(append(c[:], make([]byte, 8)...),
		noteFailed, 1, 2, 3), 0o600))
	require.Equal(t, map[uuid.UUID]bool{a: true, b: false}, j.Ended([]uuid.UUID{a, b}))
	require.True(t, j.Ended([]uuid.UUID{c})[c])
	require.NoError(t, j.Close())
	_, err = OpenJournal("/dev/null/x", slog.New(slog.DiscardHandler))
	require.Error(t, err)
	require.NoError(t, os.Chmod(folder, 0o777))
	_, err = OpenJournal(folder, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "everybody may write")
}
