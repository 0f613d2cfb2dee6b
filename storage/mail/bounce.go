package mail

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Bounce is what a delivery status notification says of one recipient.
type Bounce struct {
	MailID    uuid.UUID
	Recipient string // in the form in which the mail server had it
	Status    string // of RFC 3463
	Detail    string
	// Same reports whether an address is the recipient's: mail servers write domains
	// in other forms.
	Same func(email string) bool
}

// RecordBounce stores that a mail could not be delivered, and marks the address when the
// status is about the address. ErrNotFound, and nothing happens, when there is no such
// mail to the recipient: a notification can be forged, but not for a mail whose id
// nobody else has seen. marked is false where the status is about something else.
func RecordBounce(ctx context.Context, tx *storage.Tx, actor account.Actor, b Bounce) (marked bool, err error) {
	m, err := ByID(ctx, tx, b.MailID)
	if err != nil {
		return false, err
	}
	if !b.Same(m.Recipient) || m.State == Kept || m.State == Suppressed {
		return false, storage.ErrNotFound
	}
	if err := SetState(ctx, tx, m.ID, Bounced, b.Status+" "+b.Detail); err != nil {
		return false, err
	}
	if !IsAddressBounced(b.Status, b.Detail) || m.OrganizationID == nil {
		return false, nil
	}
	return true, Suppress(ctx, tx, actor, Refusal{m, ByNotification, b.Status, b.Detail})
}

// IsAddressBounced is IsAddressRefused for mail that came back: there the statuses that
// say nothing more (5.0.0, 5.1.0, 5.2.0) are about the address as well, for a server
// that reports a mail back has accepted it before, unless its words are about the sender.
func IsAddressBounced(status, detail string) bool {
	switch status {
	case "5.0.0", "5.1.0", "5.2.0":
		return !IsAboutSender(detail)
	}
	return IsAddressRefused(status)
}
