// Package failure stores why jobs failed: the diagnosis of each, the groups that the failures
// of a suite run fall into, and what the last good job saw that a failure is compared with.
//
// A worker that ends a job stores with it what it saw (Digest) when it passed, and why it
// failed (Diagnosis) when it did not. Of the digests only that of the newest good job is kept,
// for a case on a target in an environment with a data row: the statement that ends the job
// replaces it (KeepGood), so that an end costs no statement more. A digest goes with its job.
//
// Groups are counted as the jobs of a suite run end (Add), whose row the caller has locked, so
// reading a suite run of any size reads its groups alone. Failures in quarantine are in none.
//
// The rules that choose a reason are in worker/run/reason; here is what is stored.
package failure

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Reason is what is to be mended.
type Reason string

// The reasons.
const (
	Product     Reason = "product"     // what is tested
	Test        Reason = "test"        // the case
	Environment Reason = "environment" // what the test runs in
	Unknown     Reason = "unknown"     // nothing proves one of the others, or several are proved
)

// Reasons are all of them.
func Reasons() []Reason { return []Reason{Product, Test, Environment, Unknown} }

// Diagnosis is why a job failed.
type Diagnosis struct {
	Reason Reason `json:"reason"`
	// Why are sentences that are made of what was seen.
	Why []string `json:"why"`
	// Key is that of the group, the same for all failures of one cause; Subject names the cause.
	Key     string `json:"key"`
	Subject string `json:"subject"`
	// Comparison is with the last good job; nil where there is none to compare with.
	Comparison *Comparison `json:"comparison,omitempty"`
}

// Comparison is what a job that failed saw otherwise than the last good one. A list is empty where
// nothing differs.
type Comparison struct {
	JobID       uuid.UUID `json:"jobId"` // of the good one
	RunID       uuid.UUID `json:"runId"`
	Build       string    `json:"build"`
	CreatedAt   time.Time `json:"createdAt"` // of the run
	SameSteps   bool      `json:"sameSteps"` // both played the same steps
	SameBuild   *bool     `json:"sameBuild"` // nil: one of the two names no build
	Page        *Page     `json:"page"`      // nil: one of the two pages is not known
	Requests    []Request `json:"requests"`
	Console     []string  `json:"console"` // errors that are new
	Durations   []Slower  `json:"durations"`
	WithNetwork bool      `json:"withNetwork"` // both recorded their requests
}

// Page is what changed on the page around the element of the step that failed: lines like
// `button#buy "Buy"`, those that were there and those that are there now.
type Page struct {
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
	// More counts the changes that are further away and in neither list.
	More int `json:"more,omitempty"`
}

// Request is one that fails and did not before.
type Request struct {
	Method string `json:"method"`
	Host   string `json:"host"`
	Path   string `json:"path"` // numbers and ids are {id}
	Status int    `json:"status"`
	// Failure is what the browser calls it where no response came.
	Failure string `json:"failure,omitempty"`
	// Before is the status that it had then; 0: it was not sent.
	Before int `json:"before"`
}

// Slower is what took more than three times as long. Step is its id; "" for the whole test.
type Slower struct {
	Step     string `json:"step,omitempty"`
	BeforeMS int64  `json:"beforeMs"`
	NowMS    int64  `json:"nowMs"`
}

// Group are the failures of a suite run that have one cause.
type Group struct {
	Key     string `db:"key"`
	Subject string `db:"subject"`
	Reason  Reason `db:"reason"`
	Jobs    int    `db:"jobs"`
	Count   int    `db:"cases"` // of cases
	Cases   []Case `db:"-"`
}

// Title is the group in a line: 7 cases: 503 of /api/cart.
func (g *Group) Title() string {
	if g.Count == 1 {
		return "1 case: " + g.Subject
	}
	return fmt.Sprintf("%d cases: %s", g.Count, g.Subject)
}

// Case is a case of a group.
type Case struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	RunID uuid.UUID `json:"runId"` // of the first of its jobs that failed
	Jobs  int       `json:"jobs"`
}
