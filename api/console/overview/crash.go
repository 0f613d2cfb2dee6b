package overview

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

const (
	// chartDays is how far the chart reaches back, today included.
	chartDays = 14
	// mostProjects bounds the crash projects of one page, each a request; more are chosen from.
	mostProjects = 6
	// mostVersions is how many versions have a colour of their own; the rest shares one.
	mostVersions = 5
	// pageRows is the most that the lists of the api answer on a page.
	pageRows = "100"
)

// crashes is the chart, and the newest version of each crash project.
type crashes struct {
	part
	Projects []project // to choose from
	Chosen   int64     // 0: all
	More     bool      // there are further projects than the chart has
	Bars     []frame.Bar
	Total    int64
	Newest   []newest
	From     string
}

type project struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// version is a version of a crash project with its last days.
type version struct {
	Version      string   `json:"version"`
	Crashes      int64    `json:"crashes"`
	Sessions     int64    `json:"sessions"`
	FreeSessions *float64 `json:"crash_free_sessions"`
	FreeUsers    *float64 `json:"crash_free_users"`
	Days         []struct {
		Day     string `json:"day"`
		Crashes int64  `json:"crashes"`
	} `json:"days"`

	project project
}

// newest is the newest version of a crash project that was seen in these days.
type newest struct {
	Project project
	version
}

// readCrashes asks for the versions of the projects.
func (p *Pages) readCrashes(c *gin.Context, now time.Time, into *crashes) error {
	first := now.AddDate(0, 0, 1-chartDays)
	into.From = first.Format(time.DateOnly)
	var all struct {
		Projects   []project  `json:"crash_projects"`
		Pagination pagination `json:"pagination"`
	}
	if err := p.API.Get(c, "/api/v3/crash-projects", url.Values{"per_page": {pageRows}}, &all); err != nil {
		return err
	}
	into.Projects = all.Projects
	shown := all.Projects
	into.Chosen, _ = strconv.ParseInt(c.Query("project"), 10, 64) // what is no number chooses none
	if into.Chosen > 0 {
		shown = slices.DeleteFunc(slices.Clone(shown), func(of project) bool { return of.ID != into.Chosen })
	}
	if len(shown) > mostProjects {
		shown, into.More = shown[:mostProjects], true
	}
	var versions []version
	for _, of := range shown {
		var answer struct {
			Versions []version `json:"versions"`
		}
		query := url.Values{"days": {strconv.Itoa(chartDays)}, "per_page": {pageRows}}
		if err := p.API.Get(c, "/api/v3/crash-projects/"+strconv.FormatInt(of.ID, 10)+"/versions", query, &answer); err != nil {
			return err
		}
		for i := range answer.Versions {
			answer.Versions[i].project = of
		}
		if len(answer.Versions) > 0 {
			into.Newest = append(into.Newest, newest{of, answer.Versions[0]})
		}
		versions = append(versions, answer.Versions...)
	}
	public, err := url.Parse(p.PublicURL())
	if err != nil {
		return err
	}
	into.Bars, into.Total = bars(versions, first, len(shown) > 1, func(day string) string {
		link := public.Path + frame.Base + "/crashes?from=" + day + "&to=" + day
		if into.Chosen > 0 {
			link += "&project=" + strconv.FormatInt(into.Chosen, 10)
		}
		return link
	})
	return nil
}

// bars are the days with the crashes of each version; those with the most have series of
// their own, the rest is the last series.
func bars(versions []version, first time.Time, several bool, link func(day string) string) (list []frame.Bar, total int64) {
	slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(b.Crashes, a.Crashes) })
	byDay := map[string][]frame.Part{}
	for i, v := range versions {
		name := v.Version
		if several {
			name = v.project.Name + " " + v.Version
		}
		series := min(i, mostVersions)
		if series == mostVersions {
			name = "other versions"
		}
		for _, day := range v.Days {
			parts := byDay[day.Day]
			if at := slices.IndexFunc(parts, func(p frame.Part) bool { return p.Series == series }); at >= 0 {
				parts[at].Value += day.Crashes
			} else {
				parts = append(parts, frame.Part{Series: series, Name: cut(name), Value: day.Crashes})
			}
			byDay[day.Day] = parts
			total += day.Crashes
		}
	}
	for i := range chartDays {
		day := first.AddDate(0, 0, i)
		text := day.Format(time.DateOnly)
		list = append(list, frame.Bar{Label: day.Format("01-02"), Link: link(text), Parts: byDay[text]})
	}
	return list, total
}

// cut shortens a name for the chart's legend.
func cut(name string) string {
	const most = 40
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// groups are the crash groups that are new or came back, and how many are open.
type groups struct {
	part
	Open      pagination
	Seen      pagination // since yesterday
	New       []group
	Regressed []group
}

type group struct {
	ID         int64      `json:"id"`
	Title      string     `json:"title"`
	State      string     `json:"state"`
	Count      int64      `json:"count"`
	FirstSeen  time.Time  `json:"first_seen"`
	LastSeen   time.Time  `json:"last_seen"`
	ReopenedAt *time.Time `json:"reopened_at"`
	Project    project    `json:"project"`
}

// Partial reports whether there are more groups than were looked at.
func (g groups) Partial() bool { return g.Seen.Total > 100 || g.Seen.AtLeast() }

// readGroups looks for what is new or came back among the groups that were seen since a day.
func (p *Pages) readGroups(c *gin.Context, since string, into *groups) error {
	var open struct {
		Pagination pagination `json:"pagination"`
	}
	if err := p.API.Get(c, "/api/v3/crash-groups", url.Values{"state": {"open"}, "per_page": {"1"}}, &open); err != nil {
		return err
	}
	var seen struct {
		Groups     []group    `json:"crash_groups"`
		Pagination pagination `json:"pagination"`
	}
	query := url.Values{"from": {since}, "sort": {"first_seen"}, "per_page": {pageRows}}
	if err := p.API.Get(c, "/api/v3/crash-groups", query, &seen); err != nil {
		return err
	}
	begin, err := time.Parse(time.DateOnly, since)
	if err != nil {
		return err
	}
	into.Open, into.Seen = open.Pagination, seen.Pagination
	for _, g := range seen.Groups {
		switch {
		case !g.FirstSeen.Before(begin):
			into.New = append(into.New, g)
		case g.ReopenedAt != nil && !g.ReopenedAt.Before(begin):
			into.Regressed = append(into.Regressed, g)
		}
	}
	return nil
}
