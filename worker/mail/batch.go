package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// actorName is who marks addresses, as the audit log names it.
const actorName = "mail-server"

// batch is the work of one claim: a mail and an outcome for each task.
type batch struct {
	send     *Send
	claim    *worker.Claim
	mails    []*mail.Mail // nil: the mail was deleted
	outcomes []outcome
	settings mail.Settings
	checked  time.Time // when the claim was known to be ours
	delays   map[int]time.Duration
	mu       sync.Mutex // of checked
}

// load reads the mails in a transaction that checks the claim, and decides what is
// not to be sent: a worker that was suspended while another took its tasks sends
// nothing.
func (s *Send) load(ctx context.Context, claim *worker.Claim) (*batch, error) {
	b := &batch{send: s, claim: claim, mails: make([]*mail.Mail, len(claim.Tasks)), outcomes: make([]outcome, len(claim.Tasks)),
		delays: map[int]time.Duration{}}
	ids := make([]uuid.UUID, len(claim.Tasks))
	for i, task := range claim.Tasks {
		payload, err := worker.Payload[tasks.MailSendPayload](task)
		if err != nil {
			b.outcomes[i].err = err
			continue
		}
		ids[i] = payload.MailID
	}
	b.checked = time.Now()
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		found, err := mail.ByIDs(ctx, tx, ids)
		if err != nil {
			return err
		}
		for i := range ids {
			b.mails[i] = found[ids[i]]
		}
		if b.settings, err = mail.SettingsOf(ctx, tx, claim.OrganizationID()); err != nil {
			return err
		}
		b.decide()
		if err := b.leaveOut(ctx, tx); err != nil {
			return err
		}
		return b.takeRate(ctx, tx)
	})
	return b, err
}

// decide settles what needs no mail server: mails that are gone or sent already, and
// those that an attempt that was killed had handed over.
func (b *batch) decide() {
	var again []uuid.UUID
	for i, m := range b.mails {
		switch {
		case b.outcomes[i].err != nil:
		case m == nil:
			b.outcomes[i].state = stateDeleted
		case m.State == mail.Sent || m.State == mail.Bounced:
			b.outcomes[i].state = m.State
		case b.claim.Tasks[i].Attempt > 1:
			again = append(again, m.ID)
		}
	}
	if len(again) == 0 || b.send.Journal == nil {
		return
	}
	ended := b.send.Journal.Ended(again)
	for i, m := range b.mails {
		if m != nil && ended[m.ID] && b.open(i) {
			b.outcomes[i] = outcome{state: mail.Sent, note: "handed over; the worker ended before it had the mail server's reply"}
		}
	}
}

// open reports whether a mail is still to be handed over.
func (b *batch) open(i int) bool {
	o := b.outcomes[i]
	return o.state == "" && o.err == nil && o.wait == 0
}

// leaveOut settles mails whose recipients must not get them any more.
func (b *batch) leaveOut(ctx context.Context, q storage.Querier) error {
	for _, transactional := range []bool{true, false} {
		var people []mail.Person
		var places []int
		for i, m := range b.mails {
			if !b.open(i) || (m.Unsubscribe == "") != transactional {
				continue
			}
			p := mail.Person{Email: m.Recipient}
			if m.UserID != nil {
				p.UserID = *m.UserID
			}
			people, places = append(people, p), append(places, i)
		}
		silent, err := mail.Silent(ctx, q, b.claim.OrganizationID(), people, transactional)
		if err != nil {
			return err
		}
		for j, reason := range silent {
			b.outcomes[places[j]] = outcome{state: mail.Suppressed, note: "not sent: " + reason}
		}
	}
	return nil
}

// takeRate puts off what is over the rates of this minute.
func (b *batch) takeRate(ctx context.Context, tx *storage.Tx) error {
	if b.send.Urgent {
		return nil
	}
	wanted := 0
	for i := range b.mails {
		if b.open(i) {
			wanted++
		}
	}
	granted, wait := wanted, time.Duration(0)
	for _, scope := range []struct {
		id    int64
		limit int
	}{{b.claim.OrganizationID(), b.settings.RatePerMinute}, {mail.Installation, b.send.Rate}} {
		if scope.limit == 0 || granted == 0 {
			continue
		}
		n, until, err := mail.TakeRate(ctx, tx, scope.id, scope.limit, granted)
		if err != nil {
			return err
		}
		if n < granted {
			granted, wait = n, until
		}
	}
	if granted == wanted {
		return nil
	}
	wait = max(wait, time.Second)
	for i := range b.mails {
		if !b.open(i) {
			continue
		}
		if granted--; granted < 0 {
			b.outcomes[i].wait = wait
		}
	}
	return ledger.Postpone(ctx, tx, tasks.MailSend.Name, b.claim.OrganizationID(), wait)
}

// run hands over what is open, some mails at once.
func (b *batch) run(ctx context.Context) {
	next := make(chan int)
	var wg sync.WaitGroup
	parallel := b.send.Parallel
	if parallel <= 0 {
		parallel = 4
	}
	for range min(parallel, len(b.mails)) {
		wg.Go(func() {
			for i := range next {
				b.outcomes[i] = b.sendOne(ctx, i)
			}
		})
	}
	end := time.Now().Add(batchTime)
	for i := range b.mails {
		if !b.open(i) {
			continue
		}
		if ctx.Err() != nil || time.Now().After(end) {
			b.outcomes[i].wait = time.Millisecond // for the next claim
			continue
		}
		next <- i
	}
	close(next)
	wg.Wait()
}

// sendOne hands one mail over. A panic is an error of this mail: it runs beside the
// worker's own recovery.
func (b *batch) sendOne(ctx context.Context, i int) (out outcome) {
	defer func() {
		if v := recover(); v != nil {
			out = outcome{err: fmt.Errorf("panic: %v", v)}
		}
	}()
	if err := b.check(ctx); err != nil {
		return outcome{err: err}
	}
	m := b.mails[i]
	mailing := &Outgoing{Mail: m, SenderName: b.settings.SenderName, ReplyTo: b.settings.ReplyTo}
	if m.Icon != "" && b.send.Icons != nil {
		mailing.IconPNG = b.send.Icons.PNG(ctx, m.Icon)
	}
	if b.send.Journal != nil {
		mailing.Ending = func() { b.send.Journal.Note(m.ID) }
	}
	err := b.send.Transport.Send(ctx, mailing)
	switch {
	case err == nil:
		return outcome{state: mail.Sent}
	case errors.Is(err, ErrKept):
		return outcome{state: mail.Kept}
	}
	if b.send.Journal != nil {
		b.send.Journal.Retract(m.ID)
	}
	return outcome{err: err}
}

// check looks at the claim again when the last look is some time ago.
func (b *batch) check(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.checked) < claimAge {
		return nil
	}
	if err := b.claim.Checkpoint(ctx, func(*storage.Tx) error { return nil }); err != nil {
		return err
	}
	b.checked = time.Now()
	return nil
}

// record stores the outcomes of mails and tasks in one transaction.
func (b *batch) record(ctx context.Context) error {
	stopped := ctx.Err() != nil
	var refused, failed error
	ends := make([]worker.End, len(b.outcomes))
	var changes []mail.Change
	var marked []mail.Refusal
	for i, o := range b.outcomes {
		var change mail.Change
		ends[i], change = b.end(i, o, stopped)
		if change.State != "" {
			changes = append(changes, change)
		}
		var refusal *RefusedError
		switch {
		case errors.Is(o.err, storage.ErrStale):
			return o.err
		case errors.As(o.err, &refusal):
			refused = o.err
			if refusal.Address {
				marked = append(marked, mail.Refusal{Mail: b.mails[i], Source: mail.BySMTP, Status: refusal.Status, Detail: refusal.Text})
			}
		case o.err != nil:
			failed = o.err
		}
	}
	b.log(ctx, refused, failed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return b.claim.Settle(ctx, ends, func(tx *storage.Tx) error {
		if err := mail.SetStates(ctx, tx, changes); err != nil {
			return err
		}
		return mail.Suppress(ctx, tx, account.Actor{Name: actorName}, marked...)
	})
}

// end returns how a task ends, and what changes of its mail.
func (b *batch) end(i int, o outcome, stopped bool) (worker.End, mail.Change) {
	task := b.claim.Tasks[i]
	var refusal *RefusedError
	switch {
	case o.wait > 0:
		return worker.End{Released: true, Delay: o.wait}, mail.Change{}
	case o.err == nil && b.mails[i] == nil:
		return worker.End{Result: Result{o.state}}, mail.Change{}
	case o.err == nil:
		return worker.End{Result: Result{o.state}}, mail.Change{ID: b.mails[i].ID, State: o.state, Reason: o.note}
	case b.mails[i] == nil:
		return worker.Failed(tasks.Permanent(o.err), 0), mail.Change{}
	case errors.As(o.err, &refusal):
		return worker.Failed(tasks.Permanent(o.err), 0), mail.Change{ID: b.mails[i].ID, State: mail.Failed, Reason: oneLine(o.err.Error())}
	case stopped:
		return worker.End{Released: true}, mail.Change{}
	}
	end := worker.Failed(o.err, b.delay(task.Attempt))
	if task.Attempt >= task.MaxAttempts {
		return end, mail.Change{ID: b.mails[i].ID, State: mail.Failed, Reason: oneLine(o.err.Error())}
	}
	return end, mail.Change{}
}

// delay is the wait before the next attempt, the same for all tasks of the claim that
// are at the same attempt.
func (b *batch) delay(attempt int) time.Duration {
	if b.delays[attempt] == 0 {
		b.delays[attempt] = tasks.MailSend.Delay(attempt)
	}
	return b.delays[attempt]
}

// log writes one line for what went wrong in a claim.
func (b *batch) log(ctx context.Context, refused, failed error) {
	if b.send.Log == nil || refused == nil && failed == nil {
		return
	}
	if refused != nil {
		b.send.Log.InfoContext(ctx, "mail refused", slog.Int("mails", len(b.mails)), slog.Any("error", refused))
	}
	if failed != nil {
		b.send.Log.WarnContext(ctx, "mail not handed over", slog.Int("mails", len(b.mails)), slog.String("dependency",
			"mail_server"), slog.Any("error", failed))
	}
}
