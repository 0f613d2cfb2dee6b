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
}

// Validate refuses a purge of everything.
func (p CrashPurgePayload) Validate() error {
	if p.Key == "" {
		return errors.New("key is missing")
	}
	return nil
}

// NewCrashPurge returns the task.
func NewCrashPurge(organization int64, requestID string, p CrashPurgePayload) *ledger.NewTask {
	t := CrashPurge.new(organization, requestID, p)
	t.ConcurrencyKey = "crash:purge:" + organizationKey(organization)
	return t
}
