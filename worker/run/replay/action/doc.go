// Package action has the steps that do something to an element of a page: clicks, texts, files,
// keys, drags, scrolling.
//
// One page script (page/act.js) resolves the selector, waits until the
// element can be acted on (one match, visible, not moving, enabled, receiving
// events at its centre) and either does the action itself (filling, selecting,
// files, scrolling) or returns the element for real input (clicks, hovering,
// dragging). A call waits in the page for some seconds at most and is repeated until
// the step's time is over, so that a navigation or a dialog costs one retry. What became
// of a gesture is what the page saw of it, not what the driver reports.
//
// An action whose selector finds nothing is healed by its fingerprint: near the end
// of the step's time the page is searched, through open shadow roots and frames, for
// one that nothing distinguishes from the recorded element (page/heal.js). A step without
// fingerprint gets one when it passes. Where the selector finds an element that
// contradicts the fingerprint, by its name or its row, the step has drifted
// (page/drift.js): it says so, or fails before it acts.
//
// An element that cannot be used until the time is over fails the step with what it lacks, and
// with the elements of the page that come nearest to it (page/nearest.js).
package action
