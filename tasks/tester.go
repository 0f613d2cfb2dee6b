package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds of mailings to testers. They write one mail for each person, once for the
// task, so a retry is harmless.
var (
	// TesterWelcome writes the welcome mails of testers who were added.
	TesterWelcome = Kind{
		Name: "tester:welcome", Queue: Default, Timeout: 5 * time.Minute,
		MaxAttempts: 10, Backoff: time.Second, MaxBackoff: 5 * time.Minute,
	}
	// BuildInvite writes the mails of invitations to a build.
	BuildInvite = Kind{
		Name: "build:invite", Queue: Default, Timeout: 5 * time.Minute,
		MaxAttempts: 10, Backoff: time.Second, MaxBackoff: 5 * time.Minute,
	}
)

// MailingPayload names a mailing: to whom, and with which text.
type MailingPayload struct {
	MailingID int64 `json:"mailing_id"`
}

// Validate refuses a payload without a mailing.
func (p MailingPayload) Validate() error {
	if p.MailingID <= 0 {
		return errors.New("mailing_id is missing")
	}
	return nil
}

// NewTesterWelcome returns the task.
func NewTesterWelcome(organization int64, requestID string, mailingID int64) *ledger.NewTask {
	return TesterWelcome.new(organization, requestID, MailingPayload{MailingID: mailingID})
}

// NewBuildInvite returns the task.
func NewBuildInvite(organization int64, requestID string, mailingID int64) *ledger.NewTask {
	return BuildInvite.new(organization, requestID, MailingPayload{MailingID: mailingID})
}
