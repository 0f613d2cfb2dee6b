package tasks

import (
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// Maintenance kinds belong to the installation, not to an organization. The
// asynq scheduler triggers them again and again, so few attempts suffice: the
// next round does what this one did not.
var (
	// LedgerRetention deletes tasks that ended long ago.
	LedgerRetention = maintenance("ledger:retention", 10*time.Minute, 10*time.Minute)
	// CrashRetention deletes crash batches and reports beyond their age.
	CrashRetention = maintenance("crash:retention", time.Hour, 30*time.Minute)
	// AuditRetention deletes audit events beyond the age that their organization keeps.
	AuditRetention = maintenance("audit:retention", time.Hour, 30*time.Minute)
	// ObjectSweep deletes stored objects that no row names.
	ObjectSweep = maintenance("object:sweep", 6*time.Hour, 30*time.Minute)
	// UploadExpiry ends uploads in parts that were not completed in time.
	UploadExpiry = maintenance("upload:expiry", 10*time.Minute, 10*time.Minute)
	// ObjectRemoval deletes the objects that waited long enough after their rows.
	ObjectRemoval = maintenance("object:removal", time.Minute, 30*time.Minute)
	// QuotaMaintenance keeps what organizations use small and right.
	QuotaMaintenance = maintenance("quota:maintenance", 10*time.Minute, 30*time.Minute)
)

func maintenance(name string, every, timeout time.Duration) Kind {
	return Kind{
		Name: name, Queue: Bulk, Every: every, Timeout: timeout,
		MaxAttempts: 3, Backoff: 30 * time.Second, MaxBackoff: 5 * time.Minute,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
}

// NewMaintenance returns a maintenance task; the dedupe key lets only one of a kind be
// open, however many schedulers there are.
func NewMaintenance(k Kind) *ledger.NewTask { return NewPeriodic(k, 0) }

// NewPeriodic returns a task of a kind that is triggered by the clock. The slot, from 0 to
// below the kind's Open, lets that many be open at once, however many triggers come.
func NewPeriodic(k Kind, slot int) *ledger.NewTask {
	t := k.new(0, "", struct{}{})
	if t.DedupeKey = k.Name; slot > 0 {
		t.DedupeKey += ":" + strconv.Itoa(slot)
	}
	return t
}

func organizationKey(id int64) string { return strconv.FormatInt(id, 10) }

// TriggerPrefix stands before the kind in the name of the asynq task by which the
// scheduler triggers a task of the kind.
const TriggerPrefix = "trigger:"
