// Package browsing has the steps that move the browser or set it up: addresses, the history,
// windows, dialogs, the viewport, cookies and storages, what the browser pretends to be, the
// clock, and the steps on requests and downloads.
//
// They act on no element. What a browser cannot do without WebDriver BiDi fails with a text
// that says so; an address that tests may not open is refused before it is opened, and again
// where a page went there by itself.
package browsing
