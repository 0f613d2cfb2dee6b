// Package failure has how a step fails: with a code, a text for people and its two halves, what
// was expected and what there was.
//
// What the test found is FAILED, what kept it from finding anything is ERROR; Status tells
// them apart by the code. A broken failure leaves the session in an unknown state, so that it
// cannot be used any more. An error of the driver is no failure yet: Lost and Retriable say
// what it means, and session.FailureOf makes one of it.
package failure
