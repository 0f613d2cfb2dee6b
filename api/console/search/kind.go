package search

import (
	"net/url"
	"strconv"
	"strings"
)

// kind is where the results of a kind lead.
type kind struct {
	name string // of several, as a heading
	path string // of a result, up to its id
	list string // the list of all, with its parameter of a search up to the text; "": it has none
}

// kinds are the kinds by the names that the api has for them. A version and a device have no
// page: the crashes of the one and the line of the other are shown.
func kinds() map[string]kind {
	return map[string]kind{
		"crash_group":   {"Crash groups", "/crashes/groups/", "/crashes?search="},
		"crash":         {"Crashes", "/crashes/reports/", ""},
		"version":       {"Versions", "/crashes?version=", ""},
		"app":           {"Apps", "/builds/apps/", "/builds?search="},
		"build":         {"Builds", "/builds/builds/", ""},
		"test_case":     {"Test cases", "/tests/cases/", ""},
		"test_suite":    {"Test suites", "/tests/suites/", "/tests/suites?search="},
		"test_schedule": {"Schedules", "/tests/schedules/", "/tests/schedules?search="},
		"tester":        {"Testers", "/people/testers/", "/people?search="},
		"task":          {"Tasks", "/operate/tasks/", ""},
		"webhook":       {"Webhooks", "/settings/webhooks/", ""},
		"crash_comment": {"Comments", "/crashes/groups/", ""},
		"symbol":        {"Symbols", "/crashes/symbols/", ""},
		"test_run":      {"Test runs", "/tests/cases/", ""},
		"suite_run":     {"Suite runs", "/tests/suites/", ""},
		"tester_group":  {"Groups of testers", "/people/groups/", "/people/groups?search="},
		"team":          {"Teams", "/people/teams/", "/people/teams?search="},
		"device":        {"Devices", "/people/devices?search=", "/people/devices?search="},
	}
}

// sectionOf shows a group. A kind that the console does not know, of a newer api, leads
// nowhere.
func sectionOf(g group, text string) section {
	of, known := kinds()[g.Kind]
	if !known {
		of.name = g.Kind
	}
	s := section{Kind: g.Kind, Name: of.name, More: g.More}
	if g.More && of.list != "" {
		s.All = of.list + url.QueryEscape(text)
	}
	for _, r := range g.Results {
		shown := row{ID: r.ID, Title: mark(r.Title, text), Detail: mark(r.Detail, text)}
		if r.Title == "" {
			shown.Title = mark(r.ID, text)
		}
		switch {
		case !known:
		case g.Kind == "version":
			shown.Path = of.path + url.QueryEscape(r.ID)
			if r.CrashProjectID != 0 {
				shown.Path += "&project=" + strconv.FormatInt(r.CrashProjectID, 10)
			}
		case g.Kind == "crash_comment":
			shown.Path = of.path + url.PathEscape(r.ParentID) + "#comments"
		case g.Kind == "test_run" || g.Kind == "suite_run":
			shown.Path = of.path + url.PathEscape(r.ParentID) + "/runs/" + url.PathEscape(r.ID)
		case g.Kind == "device":
			shown.Path = of.path + url.QueryEscape(udid(r.Detail))
		default:
			shown.Path = of.path + url.PathEscape(r.ID)
		}
		s.Rows = append(s.Rows, shown)
	}
	return s
}

// udid is that of a device: its detail begins with it.
func udid(detail string) string {
	id, _, _ := strings.Cut(detail, " · ")
	return id
}
