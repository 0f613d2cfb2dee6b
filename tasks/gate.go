package tasks

import (
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds of gates.
var (
	// GateEvaluate evaluates the gates that are due: facts of their builds changed, or their
	// time came. Every scheduler triggers one each second, and a row is made only when a gate is
	// due, so that an answer is there within two seconds. Several may be open at once: they take
	// different gates.
	GateEvaluate = Kind{
		Name: "gate:evaluate", Queue: Critical, Every: time.Second, Timeout: 2 * time.Minute,
		MaxAttempts: 3, Backoff: time.Second, MaxBackoff: 5 * time.Second, Open: 2,
		Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: time.Hour,
	}
	// GateStart starts the suites that the policy of an app has run on a new build.
	GateStart = Kind{
		Name: "gate:start", Queue: Default, Timeout: time.Minute,
		MaxAttempts: 10, Backoff: time.Second, MaxBackoff: 5 * time.Minute,
	}
)

// NewGateStart returns the task; one of a build is open at a time.
func NewGateStart(organization int64, requestID string, buildID int64) *ledger.NewTask {
	t := GateStart.new(organization, requestID, BuildPayload{BuildID: buildID})
	t.DedupeKey = "gate:start:" + strconv.FormatInt(buildID, 10)
	return t
}
