package search

import (
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// kind is how the results of a kind are shown.
type kind struct {
	name string // of several, as a heading
	list string // the list of all, with its parameter of a search up to the text; "": it has none
}

// kinds are the kinds by the names that the api has for them.
func kinds() map[string]kind {
	return map[string]kind{
		"crash_group":   {"Crash groups", "/crashes?search="},
		"crash":         {"Crashes", ""},
		"version":       {"Versions", ""},
		"app":           {"Apps", "/builds?search="},
		"build":         {"Builds", ""},
		"test_case":     {"Test cases", ""},
		"test_suite":    {"Test suites", "/tests/suites?search="},
		"test_schedule": {"Schedules", "/tests/schedules?search="},
		"tester":        {"Testers", "/people?search="},
		"task":          {"Tasks", ""},
		"webhook":       {"Webhooks", ""},
		"crash_comment": {"Comments", ""},
		"symbol":        {"Symbols", ""},
		"test_run":      {"Test runs", ""},
		"suite_run":     {"Suite runs", ""},
		"tester_group":  {"Groups of testers", "/people/groups?search="},
		"team":          {"Teams", "/people/teams?search="},
		"device":        {"Devices", "/people/devices?search="},
	}
}

// sectionOf shows a group. A kind that the console does not know has the name of the api.
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
		shown.Path = strings.TrimPrefix(r.URL, frame.Base)
		shown.UpdatedAt = r.UpdatedAt
		s.Rows = append(s.Rows, shown)
	}
	return s
}
