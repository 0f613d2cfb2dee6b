package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// CrashChange changes all crash groups that a filter selects. It works in steps of a hundred
// groups and may be killed at any moment, so attempts only count failures. One change of an
// organization runs at a time: two that overlap would end in an order that nobody chose.
var CrashChange = Kind{
	Name: "crash:change", Queue: Default, Timeout: 30 * time.Minute,
	MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute, KeyLimit: 1,
	Retry: GrantMember, Cancel: GrantMember, // as asking for one
}

// CrashChangePayload says what to change, and who wants it.
type CrashChangePayload struct {
	bulk.GroupChange
	ActorID int64  `json:"actor_id"`
	Actor   string `json:"actor"`
	// Forgotten says that a purge took the values out of its filter.
	Forgotten bool `json:"forgotten,omitempty"`
}

// Validate refuses a change of nothing and of nobody.
func (p CrashChangePayload) Validate() error {
	if p.Forgotten {
		return errForgotten
	}
	if p.Actor == "" {
		return errors.New("actor is missing")
	}
	return p.GroupChange.Validate()
}

// Forget returns the payload of a change that was given up, without the values of its filter: it
// fails when it is retried, and says why.
func (p CrashChangePayload) Forget() CrashChangePayload {
	p.GroupChange, p.Forgotten = *p.GroupChange.Forgotten(), true
	return p
}

// Writer is who wants the change.
func (p CrashChangePayload) Writer(organization int64) account.Writer {
	return account.Writer{OrganizationID: organization, Actor: account.Actor{UserID: p.ActorID, Name: p.Actor}}
}

// NewCrashChange returns the task.
func NewCrashChange(w account.Writer, requestID string, m *bulk.GroupChange) *ledger.NewTask {
	t := CrashChange.new(w.OrganizationID, requestID, CrashChangePayload{GroupChange: *m, ActorID: w.Actor.UserID, Actor: w.Actor.Name})
	t.ConcurrencyKey = "crash:change:" + organizationKey(w.OrganizationID)
	return t
}
