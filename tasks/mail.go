package tasks

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds of mail.
var (
	// MailSend hands mail to the mail server, many at a time: a claim shares its
	// connections, and what the ledger and the mails need. Servers that are away or
	// put a sender off for a while (greylisting) answer after minutes to hours: some
	// eight hours of retries.
	MailSend = Kind{
		Name: "mail:send", Queue: Mail, Timeout: 2 * time.Minute,
		MaxAttempts: 12, Backoff: 5 * time.Second, MaxBackoff: time.Hour,
		Batch: 100, MaxWeight: 100,
		Retry: GrantAdmin, Cancel: GrantAdmin, KeepSucceeded: 24 * time.Hour,
	}
	// MailUrgent hands over one mail that somebody waits for.
	MailUrgent = Kind{
		Name: "mail:urgent", Queue: Critical, Timeout: time.Minute,
		MaxAttempts: 12, Backoff: 5 * time.Second, MaxBackoff: time.Hour,
		Retry: GrantAdmin, Cancel: GrantAdmin, KeepSucceeded: 24 * time.Hour,
	}
	// MailDigest writes the weekly digests that are due.
	MailDigest = maintenance("mail:digest", 10*time.Minute, 10*time.Minute)
)

// MailSendPayload names a mail.
type MailSendPayload struct {
	MailID uuid.UUID `json:"mail_id"`
}

// Validate refuses a payload without a mail.
func (p MailSendPayload) Validate() error {
	if p.MailID == uuid.Nil {
		return errors.New("mail_id is missing")
	}
	return nil
}

// NewMailSend returns the task of a mail.
func NewMailSend(organization int64, requestID string, mail uuid.UUID) *ledger.NewTask {
	return MailSend.new(organization, requestID, MailSendPayload{MailID: mail})
}

// NewMailSendNow returns the task of a mail that somebody waits for, such as a
// sign-in link: it must not stand behind the thousands of a notification.
func NewMailSendNow(organization int64, requestID string, mail uuid.UUID) *ledger.NewTask {
	return MailUrgent.new(organization, requestID, MailSendPayload{MailID: mail})
}
