package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// CrashPurge deletes every report of an organization that carries an attribute
// value, the way to remove a person. It works in steps of some hundred reports
// and may be killed at any moment, so attempts only count failures. One purge
// of an organization runs at a time: two would rewrite the same batches.
var CrashPurge = Kind{
	Name: "crash:purge", Queue: Bulk, Timeout: 30 * time.Minute,
	MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute, KeyLimit: 1,
	Retry: GrantAdmin, Cancel: GrantAdmin, // as asking for one
}

// CrashPurgePayload says what to delete.
type CrashPurgePayload struct {
	Key       string `json:"key"`
	Value     string `json:"value"`
	ProjectID int64  `json:"project_id,omitempty"` // 0: every crash project
	// Forgotten says that another purge took what it selects by out of it.
	Forgotten bool `json:"forgotten,omitempty"`
}

// errForgotten is the end of a task that is retried after a purge took out what it selects by.
var errForgotten = &PublicError{Text: "what it selects by was forgotten by a removal of crash reports: request it again",
	Err: errors.New("the payload was rewritten by " + CrashPurge.Name)}

// Validate refuses a purge of everything.
func (p CrashPurgePayload) Validate() error {
	if p.Forgotten {
		return errForgotten
	}
	if p.Key == "" {
		return errors.New("key is missing")
	}
	return nil
}

// ForgottenCrashPurge is the payload of a purge that was given up, without all that it selects
// by: it fails when it is retried, and says why.
func ForgottenCrashPurge() CrashPurgePayload { return CrashPurgePayload{Forgotten: true} }

// NewCrashPurge returns the task.
func NewCrashPurge(organization int64, requestID string, p CrashPurgePayload) *ledger.NewTask {
	t := CrashPurge.new(organization, requestID, p)
	t.ConcurrencyKey = "crash:purge:" + organizationKey(organization)
	return t
}
