package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds that change which group stored reports belong to.
var (
	// CrashSplit moves the reports of a group that match to the group that was split off.
	// It works in steps of some hundred reports and may be killed at any moment, so
	// attempts only count failures. One split of an organization runs at a time: each
	// step keeps a crash project from counting for some tens of milliseconds.
	CrashSplit = Kind{
		Name: "crash:split", Queue: Bulk, Timeout: 30 * time.Minute,
		MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute, KeyLimit: 1,
		Retry: GrantMember, Cancel: GrantAdmin, // half a split is worse than none
	}
	// CrashRegroup groups the reports of a crash project anew, or says what that would change. It
	// works in steps of some hundred reports and may be killed at any moment, so attempts only
	// count failures. One of an organization runs at a time: see CrashSplit.
	CrashRegroup = Kind{
		Name: "crash:regroup", Queue: Bulk, Timeout: time.Hour,
		MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute, KeyLimit: 1,
		Retry: GrantAdmin, Cancel: GrantAdmin, // as asking for one
	}
	// CrashRekey finds the keys that groups of an older algorithm have under the newest.
	// A row is made only while there are groups that were not looked at.
	CrashRekey = maintenance("crash:rekey", 5*time.Minute, 20*time.Minute)
	// CrashFunctions makes groups from before the search for functions found by theirs. A row
	// is made only while there are some.
	CrashFunctions = maintenance("crash:functions", 5*time.Minute, 20*time.Minute)
)

// CrashSplitPayload names the key that was made for the reports.
type CrashSplitPayload struct {
	TargetKeyID int64 `json:"target_key_id"`
}

// Validate refuses a payload without a key.
func (p CrashSplitPayload) Validate() error {
	if p.TargetKeyID < 1 {
		return errors.New("target_key_id is missing")
	}
	return nil
}

// NewCrashSplit returns the task.
func NewCrashSplit(organization int64, requestID string, targetKey int64) *ledger.NewTask {
	t := CrashSplit.new(organization, requestID, CrashSplitPayload{TargetKeyID: targetKey})
	t.ConcurrencyKey = "crash:split:" + organizationKey(organization)
	return t
}

// CrashRegroupPayload names the crash project.
type CrashRegroupPayload struct {
	CrashProjectID int64 `json:"crash_project_id"`
	DryRun         bool  `json:"dry_run,omitempty"`
}

// Validate refuses a payload without a project.
func (p CrashRegroupPayload) Validate() error {
	if p.CrashProjectID < 1 {
		return errors.New("crash_project_id is missing")
	}
	return nil
}

// NewCrashRegroup returns the task.
func NewCrashRegroup(organization int64, requestID string, project int64, dry bool) *ledger.NewTask {
	t := CrashRegroup.new(organization, requestID, CrashRegroupPayload{CrashProjectID: project, DryRun: dry})
	t.ConcurrencyKey = "crash:regroup:" + organizationKey(organization)
	return t
}
