// Package assertion has the steps that compare what a page shows, or keep a text of it.
//
// It uses no fingerprint: page/observe.js returns what there is, each time that it changes, and
// the comparison is made here, by a rule. Pictures are compared by package looks, faults of
// accessibility are found by package accessible, and cookies are asked for over BiDi.
//
// An assertion that is not true fails with what was expected and what was seen last. That the
// page could not be looked at is marked as unseen: nothing is known then.
package assertion
