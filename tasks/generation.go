package tasks

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// Generate is the queue of generations: each one holds a browser for seconds to an
// hour, and must not keep the runs of tests from theirs.
const Generate = "generate"

// The kinds of generations.
var (
	// TestGenerate writes a test from a sentence. A worker that dies leaves it to the
	// next one, which begins anew; the handler itself gives up at the fourth attempt and
	// writes down why. A generation ends by its own deadline, an hour after its
	// acceptance at the latest; the kind's timeout is above that.
	TestGenerate = Kind{
		Name: "test:generate", Queue: Generate, Timeout: 65 * time.Minute,
		MaxAttempts: 20, Backoff: time.Second, MaxBackoff: 15 * time.Second, KeyLimit: 4,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: 24 * time.Hour,
	}
	// GenerationMaintenance ends generations whose deadline has passed or whose task has
	// ended without them. A row is made only when there is one.
	GenerationMaintenance = Kind{
		Name: "generation:maintenance", Queue: Critical, Every: 2 * time.Second, Timeout: time.Minute,
		MaxAttempts: 3, Backoff: time.Second, MaxBackoff: 5 * time.Second,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: time.Hour,
	}
	// GenerationRetention removes generations beyond their age and files of cases that
	// are gone.
	GenerationRetention = maintenance("generation:retention", 10*time.Minute, 10*time.Minute)
)

// TestGeneratePayload names a row of test_generations.
type TestGeneratePayload struct {
	GenerationID uuid.UUID `json:"generation_id"`
}

// Validate refuses a payload without a generation.
func (p TestGeneratePayload) Validate() error {
	if p.GenerationID == uuid.Nil {
		return errors.New("generation_id is missing")
	}
	return nil
}

// NewTestGenerate returns the task of a generation, which has the generation's id. The
// organization bounds how many of its generations run at the same time.
func NewTestGenerate(organization int64, requestID string, generation uuid.UUID) *ledger.NewTask {
	t := TestGenerate.new(organization, requestID, TestGeneratePayload{GenerationID: generation})
	t.ID = generation
	t.ConcurrencyKey = "test:generate:" + organizationKey(organization)
	return t
}
