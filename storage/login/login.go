// Package login stores the saved logins of suite runs.
//
// A suite may name a case as its Login. In each of its runs the case is played once per
// target, as a run of its own, before the jobs on that target begin; the cookies and storage
// that it leaves in its browser are sealed and given to each of them. So there is one row
// for each suite run and target: which run plays the login, and what that left.
//
// A row is Ready once the run has passed, and Failed when the run has ended without that:
// nothing has to note a failure, so that a worker which dies leaves nobody waiting. A job
// that finds itself signed out asks for the next generation of the row; whoever is first
// replaces the run, and the others wait for it. The rows of a suite run are deleted when it
// ends (package run).
package login

import (
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
)

// Login is what a suite says of its login.
type Login struct {
	// TestCaseID is the case that signs in.
	TestCaseID string `json:"testCaseId"`
	// When holds on the first page of a test that is not signed in, or not any more; nil: no
	// test looks for that, and no login is played again.
	When *step.Condition `json:"when,omitempty"`
}

// maxCaseID bounds what is looked for as the id of a case.
const maxCaseID = 100

// Check refuses a login that no suite can have: an *InvalidError. field is where it stands.
func (l *Login) Check(field string) error {
	if l.TestCaseID == "" {
		return storage.Invalid(field+".testCaseId", "is missing")
	}
	if len(l.TestCaseID) > maxCaseID {
		return storage.Invalid(field+".testCaseId", "names no test case")
	}
	return step.CheckCondition(field+".when", l.When)
}

// Document returns the column of a login; nil for none.
func Document(l *Login) (*string, error) {
	if l == nil {
		return nil, nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("login of a suite: %w", err)
	}
	clean := storage.WithoutNUL(string(text))
	return &clean, nil
}

// Read returns the login of a column; nil for none.
func Read(doc []byte) (*Login, error) {
	if doc == nil {
		return nil, nil
	}
	var l Login
	if err := json.Unmarshal(doc, &l); err != nil {
		return nil, fmt.Errorf("login of a suite: %w", err)
	}
	return &l, nil
}
