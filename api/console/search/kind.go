package search

import (
	"net/url"
	"strconv"
)

// kind is where the results of a kind lead.
type kind struct {
	name string // of several, as a heading
	path string // of a result, up to its id
	list string // the list of all, with its parameter of a search up to the text; "": it has none
}

// kinds are the kinds by the names that the api has for them. A version has no page: its
// crashes are shown.
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
		default:
			shown.Path = of.path + url.PathEscape(r.ID)
		}
		s.Rows = append(s.Rows, shown)
	}
	return s
}
