// Package mail sends mail: the handler of mail:send reads a stored mail, passes
// it to a Transport and stores the outcome.
//
// There are two transports. SMTP sends to the installation's mail server; Keep is
// for installations without one, and leaves the mail to be read by operators.
//
// A mail server cannot take part in a transaction, so a mail is handed over at
// least once: the claim is checked right before, and the state is written right
// after, in the transaction that ends the task. When a worker is killed between
// the two, the next one sends the mail again, with the same Message-ID and Date,
// by which mail readers recognize the copy. A mail whose state is
// sent is never sent again.
//
// A refusal of this mail for good (a reply of 500 or above to its recipient or
// its content) ends the task as dead and the mail as failed, with the server's
// text. Any earlier failure concerns the server or our settings and not the mail:
// it is retried, and the mail is failed when the last attempt failed. A retry by
// hand sends a failed mail after all.
package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Transport hands mail over for delivery.
type Transport interface {
	// Send returns nil once another server is responsible for the mail, ErrKept
	// when there is none, and a *RefusedError when no further attempt can help.
	// Any other error may be temporary.
	Send(ctx context.Context, m *mail.Mail) error
}

// ErrKept means that there is no mail server: the mail stays to be read.
var ErrKept = errors.New("no mail server: the mail is kept")

// RefusedError means that this mail is refused for good.
type RefusedError struct {
	Code int // the server's reply, 0 when the mail was not sent
	Text string
}

func (e *RefusedError) Error() string {
	if e.Code == 0 {
		return e.Text
	}
	return fmt.Sprintf("the mail server refused the mail: %d %s", e.Code, e.Text)
}

// Keep is the Transport of an installation without a mail server.
type Keep struct{}

// Send keeps the mail.
func (Keep) Send(context.Context, *mail.Mail) error { return ErrKept }

// Send is the handler of mail:send.
type Send struct {
	DB        *storage.DB
	Transport Transport
}

// Result is the task's result. State is the mail's, or "gone" when the mail was
// deleted before it could be sent.
type Result struct {
	State mail.State `json:"state"`
}

const stateDeleted mail.State = "gone"

// recordTimeout is how long writing the outcome may take after the mail was handed
// over: it is written even when the worker is stopped, or the mail would be sent
// twice.
const recordTimeout = 5 * time.Second

// Handle sends the mail.
func (s *Send) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.MailSendPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	m, err := loadMail(ctx, claim, payload.MailID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return claim.Finish(ctx, Result{stateDeleted}, nil)
	case err != nil:
		return err
	case m.State == mail.Sent:
		return claim.Finish(ctx, Result{mail.Sent}, nil)
	}
	err = s.Transport.Send(ctx, m)
	var refused *RefusedError
	switch {
	case err == nil:
		return finish(ctx, claim, m.ID, mail.Sent)
	case errors.Is(err, ErrKept):
		return finish(ctx, claim, m.ID, mail.Kept)
	case errors.As(err, &refused):
		if err := recordFailure(ctx, claim, m.ID, refused); err != nil {
			return err
		}
		return tasks.Permanent(refused)
	case ctx.Err() == nil && claim.Tasks[0].Attempt >= claim.Tasks[0].MaxAttempts:
		if failure := recordFailure(ctx, claim, m.ID, err); failure != nil {
			return failure
		}
	}
	return err
}

// loadMail reads the mail in a transaction that checks the claim: a worker that was
// suspended while another took its task sends nothing.
func loadMail(ctx context.Context, claim *worker.Claim, id uuid.UUID) (*mail.Mail, error) {
	var m *mail.Mail
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		m, err = mail.ByID(ctx, tx, id)
		return err
	})
	return m, err
}

// finish stores the state of the mail and ends the task.
func finish(ctx context.Context, claim *worker.Claim, id uuid.UUID, state mail.State) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return claim.Finish(ctx, Result{state}, func(tx *storage.Tx) error {
		return mail.SetState(ctx, tx, id, state, "")
	})
}

// recordFailure stores why a mail is not sent; the worker ends the task after it.
func recordFailure(ctx context.Context, claim *worker.Claim, id uuid.UUID, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		return mail.SetState(ctx, tx, id, mail.Failed, oneLine(cause.Error()))
	})
}
