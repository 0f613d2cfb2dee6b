package tasks

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// CrashProcess reads the reports of crash batches, groups and counts them. One
// row covers the reports of one commit and organization; a claim merges up to 1,024
// rows and 16 MiB of documents, so that a backlog is worked off in few transactions,
// whether its commits had many reports or one each. Beside a busy receiver the worker takes less
// at once (worker/crash.Throttle).
//
// Ten attempts over some nine minutes outlast a database that restarts; a
// report that cannot be processed fails alone and does not use attempts up.
var CrashProcess = Kind{
	Name: "crash:process", Queue: Crash, Timeout: 60 * time.Second,
	MaxAttempts: 10, Backoff: time.Second, MaxBackoff: 15 * time.Minute,
	Batch: 1024, MaxWeight: 16 << 10,
	// A report that was answered with 200 must be processed: stopping that is
	// for those who run the installation.
	Retry: GrantAdmin, Cancel: GrantOperator,
	// The reports themselves say that they were processed.
	KeepSucceeded: time.Hour,
}

// CrashProcessPayload names a row of crash_batches.
type CrashProcessPayload struct {
	BatchID uuid.UUID `json:"batch_id"`
}

// Validate refuses a payload without a batch.
func (p CrashProcessPayload) Validate() error {
	if p.BatchID == uuid.Nil {
		return errors.New("batch_id is missing")
	}
	return nil
}

// NewCrashProcess returns the task of a batch. The task has the batch's id, and
// weighs the kilobytes of the batch's documents.
func NewCrashProcess(organization int64, batch uuid.UUID, bytes int) *ledger.NewTask {
	t := CrashProcess.new(organization, "", CrashProcessPayload{BatchID: batch})
	t.ID = batch
	t.Weight = bytes>>10 + 1
	return t
}
