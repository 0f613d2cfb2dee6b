// Package generation is the work of writing tests: a sentence and an address become a
// case whose steps replay without a model.
//
// Handler handles the test:generate task. It reads what there is to do, keeps what was
// written so far for those who watch, and ends the generation with its case in the
// transaction that ends the task. An Author writes the steps: it opens a session,
// looks at the page, lets the planner (package plan) do one instruction after the
// other, asks a model (package model) where that is set and needed, and replays what
// was written once in a fresh session before it counts.
//
// The timeout counts from acceptance, whatever the number of attempts. A worker that
// dies leaves the task to another one, which begins anew. What fails for a reason that
// the one who asked can mend is a result with a code; only failures of the service are
// errors of the task.
package generation
