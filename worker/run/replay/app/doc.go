// Package app has the steps in native apps, which have no page: they go element by element, by
// the commands that Appium has for apps. There is no healing, and a selector is CSS or XPath.
//
// A driver that does not respond within the time of a step and of a page leaves a broken
// session. In a web view of an app the tools of pages work, and are not executed here.
package app
