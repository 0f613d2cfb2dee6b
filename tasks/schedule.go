package tasks

import "time"

// Schedule is the queue of the tick alone: it must start within the second,
// whatever waits elsewhere.
const Schedule = "schedule"

// ScheduleTick fires the schedules that are due. Every scheduler triggers one each
// second; a row is made only when a schedule is due, so that the ledger shows what
// happened and not the clock. Several may be open at once: they take different
// schedules, and one whose worker died does not keep the others from their work.
var ScheduleTick = Kind{
	Name: "schedule:tick", Queue: Schedule, Every: time.Second, Timeout: time.Minute,
	MaxAttempts: 3, Backoff: time.Second, MaxBackoff: 5 * time.Second, Open: 4,
	Retry: GrantOperator, Cancel: GrantOperator, KeepSucceeded: time.Hour,
}
