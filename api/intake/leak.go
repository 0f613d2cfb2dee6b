package intake

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// Leaks ends keys that an app's SDK was configured with in place of a crash
// token: everybody who has the app can read them. The key is
// revoked, the audit log says why, and its owner is mailed, in one transaction.
type Leaks struct {
	db    *storage.DB
	queue *dispatch.Enqueuer // nil leaves the delivery to the relay
	log   *slog.Logger
	slots chan struct{}
}

const (
	// leakSlots bounds the connections that a flood of made-up keys takes; a key
	// that finds no slot is revoked by the next report of the same app.
	leakSlots   = 2
	leakTimeout = 5 * time.Second
	// leakActor is who revokes, as the audit log names it.
	leakActor = "crash-receiver"
)

// NewLeaks returns a Leaks.
func NewLeaks(db *storage.DB, queue *dispatch.Enqueuer, log *slog.Logger) *Leaks {
	return &Leaks{db: db, queue: queue, log: log, slots: make(chan struct{}, leakSlots)}
}

// found revokes the key of a digest if there is one. A failure is logged: the
// report is refused in any case, and the next one tries again.
func (l *Leaks) found(ctx context.Context, digest account.Digest) {
	if l == nil {
		return
	}
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	default:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leakTimeout)
	defer cancel()
	err := l.db.InTx(ctx, func(tx *storage.Tx) error { return l.revoke(ctx, tx, digest) })
	switch {
	case err == nil:
		l.log.WarnContext(ctx, "API key found in an app: revoked")
	case !errors.Is(err, storage.ErrNotFound):
		l.log.ErrorContext(ctx, "API key found in an app could not be revoked", "error", err)
	}
}

func (l *Leaks) revoke(ctx context.Context, tx *storage.Tx, digest account.Digest) error {
	request := respond.RequestID(ctx)
	key, err := account.RevokeLeaked(ctx, tx, account.Actor{Name: leakActor, RequestID: request}, digest,
		"in place of a crash token")
	if err != nil {
		return err
	}
	name := "key ending in " + key.Hint
	if key.Name != "" {
		name = key.Name + " (" + name + ")"
	}
	subject, text, html := mailtemplate.KeyRevoked(name,
		"An app sent a crash report with this key in place of a crash token. Everybody who has the app can read the key, so it was ended. "+
			"Make a new key for your own use, and give the app the token of a crash project.")
	for _, to := range key.Recipients {
		id, err := mail.Insert(ctx, tx, mail.New{OrganizationID: key.OrganizationID, Kind: mailtemplate.KindKeyRevoked,
			Recipient: to, Subject: subject, TextBody: text, HTMLBody: html})
		if err != nil {
			return err
		}
		if err := l.queue.Insert(ctx, tx, tasks.NewMailSend(key.OrganizationID, request, id)); err != nil {
			return err
		}
	}
	return nil
}
