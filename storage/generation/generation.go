// Package generation stores generations: tests that are written from a sentence, with
// what was asked for, what there is so far and how it ended, and the files that were
// captured on the way. It also counts what language models cost.
//
// The id of a generation is the id of its test:generate task; the caller inserts the
// task in the transaction that inserts the row. States only move forward: QUEUED,
// IN_PROGRESS, then COMPLETED or FAILED. A generation is ended by the worker that wrote
// the test (End), by who cancels (Cancel), or by the maintenance when its deadline has
// passed or its task has ended without it: whoever is first. What others report later
// changes nothing.
//
// The deadline counts from acceptance. A worker that takes a generation over begins
// anew: Begin drops the steps and files of the attempt before it.
//
// A completed generation has a case, or a revision of one (a refinement), which End
// writes. The screenshots that the steps show belong to the case from then on; a
// generation and its other files are forgotten like runs.
//
// Locks are taken in the order ledger tasks, generations, suites, cases. Nobody locks
// the task of a generation who holds a suite or a case.
package generation

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// State of a generation.
type State string

// The states.
const (
	Queued     State = "QUEUED"
	InProgress State = "IN_PROGRESS"
	Completed  State = "COMPLETED"
	Failed     State = "FAILED"
)

// Terminal reports whether the state is an end.
func (s State) Terminal() bool { return s == Completed || s == Failed }

// The codes of generations that this package ends, or ends otherwise than asked.
const (
	CodeTimeout      = "TIMEOUT"
	CodeNoSession    = "SESSION_NOT_CREATED"
	CodeCancelled    = "CANCELLED"
	CodeWorkerLost   = "WORKER_LOST"
	CodeCaseChanged  = "CASE_CHANGED"        // the case has another revision than the one that was refined
	CodeCaseNotFound = "TEST_CASE_NOT_FOUND" // it was deleted meanwhile
	CodeNotStored    = "TEST_NOT_STORED"     // the case cannot be stored: its team is gone, it is too large
)

// Limits of what is asked for.
const (
	MaxIntent       = 20_000 // characters
	MaxSteps        = 200
	DefaultMaxSteps = 50
	MinTimeout      = time.Minute
	MaxTimeout      = time.Hour
	DefaultTimeout  = 5 * time.Minute
)

// ExploreModes are whether a generation may try a second way when the first did not do. Where it
// is off nothing is tried twice: the data behind the address are real.
var ExploreModes = []string{"on", "off"}

// DraftTag is a tag of the cases that failed generations keep.
const DraftTag = "draft"

// Generation is a test that is, was or will be written.
type Generation struct {
	ID             uuid.UUID
	OrganizationID int64
	TeamID         int64
	Name           string
	State          State
	ErrorCode      string // "" unless FAILED
	Error          string
	AcceptedAt     time.Time
	Deadline       time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
	// CaseID and RevisionID are "" unless COMPLETED.
	CaseID, RevisionID string
	// DraftCaseID is the case of the steps that worked; "" unless FAILED, and asked for.
	DraftCaseID string
	// Late is set when it has not ended some seconds after its deadline.
	Late bool
}

// Captured is what a generation has so far, or had at its end.
type Captured struct {
	Steps            []step.Step
	Reasoning        []authoring.Reason
	DiscoveredIntent string
	Description      string
	Changes          json.RawMessage // null unless it refined a case
	Model            json.RawMessage // null without a model
	Findings         json.RawMessage // null before its end; else Findings
	Files            []File
}

// Work is what a worker needs for a generation.
type Work struct {
	ID             uuid.UUID
	OrganizationID int64
	TeamID         int64
	Name           string
	Tags           []string
	SuiteID        *uuid.UUID
	Settings       capability.RunSettings // of the case to create
	Target         capability.Target      // with effective capabilities
	Tunnel         string
	Intent         string
	MaxSteps       int
	// Explore is on or off, as the request or else the organization says; "" is on.
	Explore string
	// KeepDraft stores the steps that worked as a case when the generation fails.
	KeepDraft bool
	// Left is the time until the deadline.
	Left time.Duration
	// Base is the revision that a refinement starts from; nil without one.
	Base *authoring.Revision
	// Writer is who asked for it.
	Writer account.Writer
}

// VariablesOf returns whose variables the test may use.
func (w *Work) VariablesOf() authoring.VariableScope {
	scope := authoring.VariableScope{OrganizationID: w.OrganizationID, TeamID: w.TeamID, SuiteID: w.SuiteID}
	if w.Base != nil {
		scope.CaseID = w.Base.CaseID
	}
	return scope
}
