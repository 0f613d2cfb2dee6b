package fingerprint

import (
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// Source is what a key was computed from.
type Source string

// Sources, best first.
const (
	SourceGiven     Source = "given"     // the client's: the report's member fingerprint
	SourceAttribute Source = "attribute" // the attribute _mod_fingerprint
	SourceStack     Source = "stack"     // frames of the faulting thread
	SourceMessage   Source = "message"   // classifier and error message
	SourceClient    Source = "client"    // neither stack nor message: language and agent
)

// sourceWhole stands in the place of the source in StackKey.
const sourceWhole Source = "whole-stack"

// Explanation describes how a key was computed. It is stored as JSON with the
// report and shown to people.
type Explanation struct {
	Version int    `json:"version"`
	Source  Source `json:"source"`
	// Thread is the id of the thread whose stack was read, "" for a given key.
	Thread string `json:"thread,omitempty"`
	// Frames are the frames that were looked at, innermost first, at most
	// maxFrames.
	Frames []Frame `json:"frames,omitempty"`
	// Skipped counts frames of a very deep stack that are not listed: exact
	// repetitions, and what is beyond maxFrames.
	Skipped int `json:"skipped,omitempty"`
	// Rules are the rules that decided what else than frames the key contains.
	Rules rule.Set `json:"rules,omitzero"`
	// Material is the lines that were hashed for Key, in their order.
	Material []string `json:"material"`
}

// Frame is one frame of an Explanation.
type Frame struct {
	// Index is the frame's position in the thread's stack, from 0.
	Index int `json:"index"`
	// Function is the name as submitted, cut at 256 bytes; "" when absent.
	Function string `json:"function,omitempty"`
	// Text is the frame after all rules, as it stands in the material when
	// Kept is set.
	Text string `json:"text"`
	// Kept is set when the frame counts for Key, Stack when it counts for
	// StackKey.
	Kept  bool `json:"kept"`
	Stack bool `json:"stack"`
	// Rules are the rules that changed the frame or left it out.
	Rules rule.Set `json:"rules,omitzero"`
}
