// Package session has what all steps of a test share: the session of the browser with what is
// current in it, the secrets, what is captured, and the execution of one step with its time.
//
// Commands that a page can block are run by WithTimeout and its like, and scripts by Execute;
// Interrupted decides what the error of one means. A dialog that no step handles is dismissed
// and noted by the command that meets it. The state of the session (the frame, the window, the
// address) is that of the last command that worked, and is set back by the step that left it.
//
// Secrets are replaced in all that leaves the session: messages by Quote, sources and the
// console as they are captured, fingerprints by Storable; screenshots are blurred. Screenshots
// and the snapshots of a trace are taken beside the session while the next step waits for its
// element, and that step waits for them before it changes anything.
//
// It fails with a failure.Failure where the test is to blame, and else with the error of the
// driver, of which FailureOf makes one.
package session
