// Package page has the scripts that run in the pages of a test, and what goes into them and
// comes out: selectors, the place of an element in frames and shadow roots, the query and the
// result of act.js.
//
// A script is sent whole with each call, because a page may replace what an earlier one left
// behind. Those that take selectors have two forms: CSS and XPath alone need no names and
// texts, and half of the bytes. Each file holds functions of one subject, declares its names
// once, and stands behind those that it uses, in the order of script.go.
//
// What a script returns is the page's word: it is bounded, and read by the caller with care.
package page
