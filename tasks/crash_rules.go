package tasks

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// CrashRules evaluates the rules of an organization for the groups to which the reports of some
// batches came, after these were recorded. Claims merge up to 16 such tasks with 1,024 batches, so
// that a storm costs few evaluations. A rule fires in the transaction that ends the task, so that a
// repeated attempt fires nothing twice.
//
// Eight attempts outlast a restart of the database by minutes; a warning that comes hours late is
// still one, so members may retry it.
var CrashRules = Kind{
	Name: "crash:rules", Queue: Default, Timeout: 2 * time.Minute,
	MaxAttempts: 8, Backoff: 2 * time.Second, MaxBackoff: 5 * time.Minute,
	Batch: 16, MaxWeight: 1024,
	// The histories of the groups say what fired.
	KeepSucceeded: time.Hour,
}

const (
	// rulesDelay lets the tasks of some commits be claimed together.
	rulesDelay = 3 * time.Second
	// symbolsDelay lets crashes have their symbols, and with them their groups: a group that
	// stands for seconds is not told of.
	symbolsDelay = 30 * time.Second
	// maxRuleBatches bounds the batches of a task.
	maxRuleBatches = 256
)

// CrashRulesPayload names rows of crash_batches.
type CrashRulesPayload struct {
	BatchIDs []uuid.UUID `json:"batch_ids"`
}

// Validate refuses a payload without a batch.
func (p CrashRulesPayload) Validate() error {
	if len(p.BatchIDs) == 0 || len(p.BatchIDs) > maxRuleBatches || slices.Contains(p.BatchIDs, uuid.Nil) {
		return errors.New("batch_ids are missing")
	}
	return nil
}

// NewCrashRules returns the tasks of batches that the transaction of the caller records; with
// pending, some of their crashes are read again with their symbols soon.
func NewCrashRules(organization int64, batches []uuid.UUID, pending bool) (list []*ledger.NewTask) {
	for some := range slices.Chunk(batches, maxRuleBatches) {
		t := CrashRules.new(organization, "", CrashRulesPayload{BatchIDs: some})
		t.Weight, t.Delay = len(some), rulesDelay
		if pending {
			t.Delay = symbolsDelay
		}
		list = append(list, t)
	}
	return list
}
