package search

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/search"
)

// pages are where the console shows a result, up to its id. A version and a device have no
// page: the crashes of the one and the line of the other are shown.
func pages() map[search.Kind]string {
	return map[search.Kind]string{
		search.CrashGroup:   "/crashes/groups/",
		search.Crash:        "/crashes/reports/",
		search.Version:      "/crashes?version=",
		search.App:          "/builds/apps/",
		search.Build:        "/builds/builds/",
		search.TestCase:     "/tests/cases/",
		search.TestSuite:    "/tests/suites/",
		search.Schedule:     "/tests/schedules/",
		search.Tester:       "/people/testers/",
		search.Task:         "/operate/tasks/",
		search.Webhook:      "/settings/webhooks/",
		search.CrashComment: "/crashes/groups/",
		search.Symbol:       "/crashes/symbols/",
		search.TestRun:      "/tests/cases/",
		search.SuiteRun:     "/tests/suites/",
		search.TesterGroup:  "/people/groups/",
		search.Team:         "/people/teams/",
		search.Device:       "/people/devices?search=",
	}
}

// address is the page of a result, below the public address.
func address(r *search.Result) string {
	parent, at := "", "/console"+pages()[r.Kind]
	if r.ParentID != nil {
		parent = url.PathEscape(*r.ParentID)
	}
	switch r.Kind {
	case search.Version:
		at += url.QueryEscape(r.ID)
		if r.CrashProjectID != nil {
			at += "&project=" + strconv.FormatInt(*r.CrashProjectID, 10)
		}
		return at
	case search.CrashComment:
		return at + parent + "#comments"
	case search.TestRun, search.SuiteRun:
		return at + parent + "/runs/" + url.PathEscape(r.ID)
	case search.Device:
		udid, _, _ := strings.Cut(r.Detail, " · ") // its detail begins with it
		return at + url.QueryEscape(udid)
	}
	return at + url.PathEscape(r.ID)
}
