// Package replay executes the steps of a test in a browser.
//
// Most of a test's time are round trips to the browser, so a step takes as few as
// possible. No element is kept across steps, and nothing waits for a fixed time.
//
// The first step that fails ends the test; an optional one is skipped. A dialog that
// the next step does not handle is dismissed and noted. What the test found is
// FAILED; what kept it from finding anything (the browser crashed, a variable has no
// value) is ERROR. After an error that leaves the session in an unknown state the
// result is marked as broken.
//
// Secrets are in no message, page source, console log or fingerprint, and are
// blurred while a screenshot is taken. Screenshots are taken over the session's BiDi
// connection where there is one, while the next step waits for its element.
//
// This package decides which step is executed when, and what is recorded of it. Below it are
// browsing (steps that move or set up the browser), action (steps that do something to an
// element), assertion and app (steps in native apps); these stand on session, which has what
// all steps of a test share, failure, and page, which has the scripts.
package replay

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// What a caller hands over is read by the packages below, which declare it.
type (
	// Config is how a test is executed.
	Config = session.Config
	// Login is what a test has to do with the login of its suite.
	Login = session.Login
	// Looks is what people accepted of the looks and the accessibility of a case.
	Looks = session.Looks
	// Artifact is what was captured of a step.
	Artifact = session.Artifact
)

// Result is how a test ended.
type Result struct {
	// Status is PASSED, FAILED or ERROR; the code is one of storage/run's.
	Status, Code string
	Message      string // for people, without secrets
	Records      []playback.Record
	Healed       int
	Drifted      int // steps whose element was another one than they were recorded with
	// Fingerprints are of steps that passed and had none, or a partial one, by step id.
	Fingerprints map[string]step.Fingerprint
	// Digest is what the test saw, for the next one that fails, and Console are the errors of its
	// pages; nil where there was no browser.
	Digest  *evidence.Digest
	Console []string
	// SignedOut: the first page showed that the test was not signed in.
	SignedOut bool
	// Left is what a login that passed has left; nil for other tests.
	Left *login.State
	// Broken means that the session's state is unknown.
	Broken bool
}

// Play executes the test to its end or until ctx ends. It never panics and never
// returns before its captures are stored.
func Play(ctx context.Context, cfg Config) (result Result) {
	cfg = cfg.WithDefaults()
	ctx, leave := session.WatchDriver(ctx, cfg.Lease)
	defer leave()
	t := newTestExecution(ctx, cfg)
	defer func() {
		t.screenshotter.Close()
		t.Tracer.Close(ctx, t.result.Status == playback.Passed, t.result.Broken)
		t.digest()
		t.Console.Close()
		t.Shown.Close()
		t.result.Broken = t.CloseNetwork() || t.result.Broken
		if t.CloseState(ctx) != nil {
			t.result.Broken = true
		}
		result = t.end()
	}()
	defer func() {
		if r := recover(); r != nil {
			cfg.Log.ErrorContext(ctx, "panic while playing a test", "panic", t.Secrets.Redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
			t.fail(&failure.Failure{Code: run.CodeInternal, Text: "the test could not be played", Broken: true})
		}
	}()
	t.run(ctx)
	return result
}
