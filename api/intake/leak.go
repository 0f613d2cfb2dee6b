package intake

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// Leaks ends keys that an app's SDK was configured with in place of a crash
// token: everybody who has the app can read them. The key is
// revoked, the audit log says why, and its owner is mailed, in one transaction.
type Leaks struct {
	db      *storage.DB
	letters *letter.Writer
	log     *slog.Logger
	slots   chan struct{}
}

const (
	// leakSlots bounds the connections that a flood of made-up keys takes; a key
	// that finds no slot is revoked by the next report of the same app.
	leakSlots   = 2
	leakTimeout = 5 * time.Second
)

// Leak states where a key was found.
type Leak struct {
	Actor  string // who revokes, as the audit log names it
	Where  string // for the audit log: "in place of a crash token"
	Reason string // for the mail to the owner
}

func crashLeak() Leak {
	return Leak{Actor: "crash-receiver", Where: "in place of a crash token",
		Reason: "An app sent a crash report with this key in place of a crash token. Everybody who has the app can read the key, so it " +
			"was ended. " +
			"Make a new key for your own use, and give the app the token of a crash project."}
}

// NewLeaks returns a Leaks.
func NewLeaks(db *storage.DB, letters *letter.Writer, log *slog.Logger) *Leaks {
	return &Leaks{db: db, letters: letters, log: log, slots: make(chan struct{}, leakSlots)}
}

// Found revokes the key of a digest if there is one. A failure is logged: the
// request is refused in any case, and the next one tries again.
func (l *Leaks) Found(ctx context.Context, digest account.Digest, leak Leak) {
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
	err := l.db.InTx(ctx, func(tx *storage.Tx) error { return l.revoke(ctx, tx, digest, leak) })
	switch {
	case err == nil:
		l.log.WarnContext(ctx, "API key found in an app: revoked")
	case !errors.Is(err, storage.ErrNotFound):
		l.log.ErrorContext(ctx, "API key found in an app could not be revoked", "error", err)
	}
}

func (l *Leaks) revoke(ctx context.Context, tx *storage.Tx, digest account.Digest, leak Leak) error {
	request := respond.RequestID(ctx)
	key, err := account.RevokeLeaked(ctx, tx, account.Actor{Name: leak.Actor, RequestID: request}, digest, leak.Where)
	if err != nil {
		return err
	}
	name := "key ending in " + key.Hint
	if key.Name != "" {
		name = key.Name + " (" + name + ")"
	}
	content := mailtemplate.KeyRevoked{Key: name, Reason: leak.Reason}
	for _, to := range key.Recipients {
		_, err := l.letters.Write(ctx, tx, letter.Letter{OrganizationID: key.OrganizationID, Recipient: to, Content: content, RequestID: request})
		if err != nil {
			return err
		}
	}
	return nil
}
