// Package tasks defines what is passed between the tiers: the kinds of tasks of each
// area, with their payloads and the constructors of their ledger rows.
//
// A Kind holds how a task is treated: queue, time, attempts, backoff, and
// whether claims merge. Kinds are data; the work is a handler in package worker
// that is registered under the kind's name. Payloads hold ids, never content.
//
// A constructor returns a ledger.NewTask, which the caller inserts in the
// transaction of its domain rows. Package dispatch brings it to asynq.
package tasks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The queues, by how soon their tasks should start.
const (
	Critical = "critical" // somebody waits for the answer
	Default  = "default"  // work that came from outside
	Bulk     = "bulk"     // maintenance and mass work
	// Sync is the queue of copies to storage of others, which may be slow: it must not
	// take the slots of other work.
	Sync = "sync"
	// Crash is crash processing's own queue: it is the one kind whose rate the
	// outside world decides, so it can have workers of its own.
	Crash = "crash"
	// Mail is the queue of mail that nobody waits for: a slow mail server must not
	// take the slots of other work.
	Mail = "mail"
)

// Queues are all queues, in the order of their urgency.
func Queues() []string {
	return []string{Schedule, Critical, Default, Run, Generate, Crash, Mail, Webhook, WebhookSlow, Sync, Bulk}
}

// Grant is the least standing that a change by hand asks for.
type Grant int

// The grants, each including the next ones.
const (
	GrantMember Grant = iota
	GrantAdmin
	GrantOperator
)

// Kind is how the tasks of one type are treated.
type Kind struct {
	Name  string
	Queue string
	// Timeout ends the handler's context; whole seconds.
	Timeout time.Duration
	// MaxAttempts counts claims, the first one included.
	MaxAttempts int
	// Backoff is the wait after the first failed attempt; it doubles with each
	// further one up to MaxBackoff, give or take a fifth.
	Backoff    time.Duration
	MaxBackoff time.Duration
	// Batch above 1 lets one claim merge that many tasks of an organization, up
	// to MaxWeight in sum.
	Batch     int
	MaxWeight int
	// KeyLimit above 0 bounds the running tasks of one concurrency key.
	KeyLimit int
	// Retry and Cancel say who may do so by hand, within the organization of the
	// task; operators may always. The zero value lets members.
	Retry, Cancel Grant
	// Every is the period of a kind that the asynq scheduler triggers, zero for
	// others.
	Every time.Duration
	// Open is how many tasks of such a kind may be open at once; 0 counts as 1.
	Open int
	// KeepSucceeded is how long rows that succeeded stay readable; zero is the
	// installation's setting.
	KeepSucceeded time.Duration
}

// Delay is the wait before the attempt that follows attempt.
func (k Kind) Delay(attempt int) time.Duration {
	d := k.Backoff
	for i := 1; i < attempt && d < k.MaxBackoff; i++ {
		d *= 2
	}
	d = min(d, k.MaxBackoff)
	// Tasks that failed together must not come back together.
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// new starts the ledger row of a task of this kind.
func (k Kind) new(organization int64, requestID string, payload any) *ledger.NewTask {
	return &ledger.NewTask{
		Kind: k.Name, Queue: k.Queue, OrganizationID: organization, RequestID: requestID,
		Payload: payload, MaxAttempts: k.MaxAttempts,
	}
}

// Kinds are all kinds, by name.
func Kinds() map[string]Kind {
	all := map[string]Kind{}
	for _, k := range []Kind{
		CrashProcess,
		CrashPurge,
		CrashSplit,
		CrashChange,
		CrashRegroup,
		CrashRules,
		CrashRekey,
		CrashFunctions,
		CrashSymbolicate,
		CrashResymbolicate,
		CrashRetention,
		LedgerRetention,
		AuditRetention,
		ObjectSweep,
		ObjectRemoval,
		UploadExpiry,
		QuotaMaintenance,
		BuildNotify,
		BuildVerify,
		BuildSync,
		BuildDelete,
		GateEvaluate,
		GateStart,
		ProjectDelete,
		BuildMaintenance,
		TesterWelcome,
		BuildInvite,
		MailSend,
		MailUrgent,
		MailDigest,
		TestJob,
		SuiteRun,
		RunRows,
		SuiteDeadline,
		RunMaintenance,
		TestGenerate,
		GenerationMaintenance,
		GenerationRetention,
		ScheduleTick,
		SymbolIndex,
		SymbolMaintenance,
		SessionMaintenance,
		CommitStatus,
		WebhookDeliver,
		WebhookMaintenance,
		WebhookReplay,
	} {
		all[k.Name] = k
	}
	return all
}

// PermanentError marks a failure that no further attempt can mend.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PermanentError) Unwrap() error { return e.Err }

// Permanent marks err, so that its task goes straight to dead.
func Permanent(err error) error { return &PermanentError{err} }

// IsPermanent reports whether err carries the mark.
func IsPermanent(err error) bool {
	var p *PermanentError
	return errors.As(err, &p)
}

// PublicError is a failure with words for those who read tasks; the cause is for
// the log.
type PublicError struct {
	Text string
	Err  error
}

func (e *PublicError) Error() string { return e.Text + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PublicError) Unwrap() error { return e.Err }

// SnoozeError puts a task off without counting the attempt: what it needs is
// rate limited or not ready.
type SnoozeError struct{ For time.Duration }

func (e *SnoozeError) Error() string { return fmt.Sprintf("put off for %s", e.For) }
