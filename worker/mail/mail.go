// Package mail sends mail: the handlers of mail:send and mail:urgent read stored
// mail, pass it to a Transport and store the outcome, and mail:digest writes the
// weekly digests.
//
// There are two transports. SMTP sends to the installation's mail server over
// connections that it keeps; Keep is for installations without one, and leaves the
// mail to be read by operators.
//
// A mail server cannot take part in a transaction: a worker may be killed after it
// ended a message and before the outcome is stored. So each message is noted in a
// journal, a file on this machine, right before the line that ends it. The file
// survives the process. The next attempt finds the note and takes the mail as handed
// over. Without the journal (the machine died, or a worker of another machine took
// over) the mail is sent again, with the same Message-ID and Date. A mail whose state
// is sent is never sent again.
//
// A refusal of this mail for good (a reply of 500 or above to its recipient or its
// content) ends the task as dead and the mail as failed, with the server's text. One
// that says that the address does not exist marks the address. Any earlier failure
// concerns the server or our settings: it is retried, and the mail is failed when the
// last attempt failed. A retry by hand sends a failed mail after all.
//
// A rate of the organization or of the installation puts mail off to the next minute;
// mail:urgent goes at once.
package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/worker"
)

// Outgoing is a mail with what its organization and its pictures add to it.
type Outgoing struct {
	*mail.Mail
	SenderName, ReplyTo string
	IconPNG             []byte
	// Ending is called right before the line that ends the message: from then on the
	// server may have it. nil for no one.
	Ending func()
}

// Transport hands mail over for delivery. It is safe for concurrent use.
type Transport interface {
	// Send returns nil once another server is responsible for the mail, ErrKept
	// when there is none, and a *RefusedError when no further attempt can help.
	// Any other error may be temporary.
	Send(ctx context.Context, m *Outgoing) error
}

// ErrKept means that there is no mail server: the mail stays to be read.
var ErrKept = errors.New("no mail server: the mail is kept")

// RefusedError means that this mail is refused for good.
type RefusedError struct {
	Code   int    // the server's reply, 0 when the mail was not sent
	Status string // its status of RFC 3463, such as 5.1.1; "" when it has none
	Text   string
	// Address: the refusal says that the address cannot get any mail.
	Address bool
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
func (Keep) Send(context.Context, *Outgoing) error { return ErrKept }

// Send is the handler of mail:send and mail:urgent.
type Send struct {
	DB        *storage.DB
	Transport Transport
	Journal   *Journal // nil for none
	Icons     *Icons   // nil: mails have no icons
	// Rate is the number of mails a minute of the installation; 0 is no limit. Urgent
	// mail is not counted.
	Rate   int
	Urgent bool
	// Parallel is how many mails of a claim are handed over at once; default 4.
	Parallel int
	Log      *slog.Logger
}

// Result is the task's result. State is the mail's, or "gone" when the mail was
// deleted before it could be sent.
type Result struct {
	State mail.State `json:"state"`
}

const stateDeleted mail.State = "gone"

const (
	// recordTimeout is how long writing the outcome may take after the mail was handed
	// over: it is written even when the worker is stopped.
	recordTimeout = 5 * time.Second
	// batchTime is how long a claim goes on taking its next mail: what is left is
	// given back, so that outcomes are recorded soon.
	batchTime = 20 * time.Second
	// claimAge is how old the check of the claim may be when a mail is handed over: a
	// process that was suspended must not send what another has taken.
	claimAge = 5 * time.Second
)

// Handle sends the mails of a claim.
func (s *Send) Handle(ctx context.Context, claim *worker.Claim) error {
	b, err := s.load(ctx, claim)
	if err != nil {
		return err
	}
	b.run(ctx)
	return b.record(ctx)
}

// outcome is what became of the mail of one task.
type outcome struct {
	state mail.State // "": nothing yet
	err   error      // why it was not sent
	wait  time.Duration
	note  string // why it was not sent, or what is not known, for the mail's row
}
