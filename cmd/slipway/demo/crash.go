package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// marker is the attribute that all reports of the demo carry. By it they are removed.
const (
	marker      = "demo"
	markerValue = "slipway"
)

// days is how far back reports go.
const days = 30

// crashProject is where reports of one kind go.
type crashProject struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`

	token string
	// again is whether an earlier filling made it: then others may have sent to it.
	again bool
}

var crashProjects = []string{androidCrashes, courierCrashes, appleCrashes, webCrashes, serverCrashes}

// demoProjects returns the crash projects of the demo that are there.
func (c *client) demoProjects(ctx context.Context) (map[string]crashProject, error) {
	found := map[string]crashProject{}
	for page := 1; ; page++ {
		var list struct {
			Projects   []crashProject `json:"crash_projects"`
			Pagination pagination     `json:"pagination"`
		}
		if err := c.get(ctx, "/api/v3/crash-projects", url.Values{"per_page": {"100"}, "page": {fmt.Sprint(page)}}, &list); err != nil {
			return nil, err
		}
		for _, p := range list.Projects {
			if slices.Contains(crashProjects, p.Name) {
				found[p.Name] = p
			}
		}
		if page >= list.Pagination.Pages {
			return found, nil
		}
	}
}

type pagination struct {
	Total int `json:"total"`
	Pages int `json:"total_pages"`
}

// symbols makes the crash projects and uploads what their reports are read with.
func (f *filler) symbols(ctx context.Context) (string, error) {
	known, err := f.demoProjects(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range crashProjects {
		if err := f.crashProject(ctx, name, known); err != nil {
			return "", err
		}
	}
	for _, version := range lampsVersions {
		name := "Lamps-" + version + ".sym"
		if err := f.uploadSymbols(ctx, appleCrashes, nil, part{"file", name, breakpadSymbols(version)}); err != nil {
			return "", err
		}
	}
	text, err := sourceMap()
	if err != nil {
		return "", err
	}
	for _, version := range []string{"5.1.0", "5.2.0", "5.3.0"} {
		values := map[string]string{"release": version, "url_prefix": strings.TrimSuffix(scriptURL, "app.js")}
		if err := f.uploadSymbols(ctx, webCrashes, values, part{"file", "app.js", []byte(script)}, part{"file", "app.js.map", text}); err != nil {
			return "", err
		}
	}
	for _, name := range []string{appleCrashes, webCrashes} {
		if err := f.waitForSymbols(ctx, url.Values{"crash_project_id": {fmt.Sprint(f.projects[name].ID)}}); err != nil {
			return "", err
		}
	}
	builds, err := f.versions(ctx, f.apps[lampsPackage])
	if err != nil {
		return "", err
	}
	for _, build := range builds {
		if err := f.waitForSymbols(ctx, url.Values{"build_id": {fmt.Sprint(build)}}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d mappings of R8, %d Breakpad files, 3 source maps", len(builds), len(lampsVersions)), nil
}

// crashProject makes a crash project, or a further token of one of an interrupted filling.
func (f *filler) crashProject(ctx context.Context, name string, known map[string]crashProject) error {
	var answer struct {
		Project crashProject `json:"crash_project"`
		Secret  string       `json:"secret"`
	}
	p, there := known[name]
	if there {
		path := fmt.Sprintf("/api/v3/crash-projects/%d/tokens", p.ID)
		if err := f.call(ctx, http.MethodPost, path, map[string]any{"name": "demo"}, &answer); err != nil {
			return err
		}
		p.token, p.again = answer.Secret, true
		f.projects[name] = p
		return nil
	}
	body := map[string]any{"name": name}
	switch name {
	case androidCrashes:
		body["project_id"] = f.apps[lampsPackage]
	case courierCrashes:
		body["project_id"] = f.apps[courierPackage]
	}
	if err := f.call(ctx, http.MethodPost, "/api/v3/crash-projects", body, &answer); err != nil {
		return err
	}
	answer.Project.token = answer.Secret
	f.projects[name] = answer.Project
	return nil
}

func (f *filler) uploadSymbols(ctx context.Context, project string, values map[string]string, parts ...part) error {
	sent := map[string]string{"crash_project_id": fmt.Sprint(f.projects[project].ID)}
	for name, value := range values {
		sent[name] = value
	}
	return f.upload(ctx, "/api/v3/symbols", sent, parts, nil, nil)
}

// crashes sends the reports and the starts of the apps, and waits until all are in their
// groups. Ids, bodies and times follow from the seed and from when the crash project was
// made, so that sending them again adds nothing.
func (f *filler) crashes(ctx context.Context) (string, error) {
	type sent struct {
		token string
		body  []byte
	}
	var list []sent
	expected := map[string]int{}
	for i := range faults {
		fault := &faults[i]
		p := f.projects[fault.project]
		random := rand.New(rand.NewPCG(f.config.Seed, uint64(i)))
		for day := range days {
			for range fault.daily(day) {
				at := p.CreatedAt.Add(-time.Duration(day)*24*time.Hour - time.Duration(random.IntN(20*3600))*time.Second)
				report := newReport(fault, f.config.Seed, expected[fault.project], versionAt(fault, day), at, random)
				body, err := json.Marshal(report)
				if err != nil {
					return "", err
				}
				expected[fault.project]++
				list = append(list, sent{p.token, body})
			}
		}
	}
	err := all(ctx, len(list), func(ctx context.Context, i int) error {
		return f.post(ctx, list[i].token, list[i].body)
	})
	if err != nil {
		return "", err
	}
	for name, n := range expected {
		if err := f.processed(ctx, name, n); err != nil {
			return "", err
		}
		if err := f.grouped(ctx, name); err != nil {
			return "", err
		}
	}
	starts, err := f.starts(ctx)
	return fmt.Sprintf("%d reports of %d bugs in 6 languages over %d days; %d starts of apps", len(list), len(faults), days, starts), err
}

// post sends a report as an app does. One that the server has already, from a filling that was
// interrupted, is refused with the code for that, and nothing of it is stored.
func (f *filler) post(ctx context.Context, token string, body []byte) error {
	const known = `"code":4,`
	err := f.send(ctx, http.MethodPost, "/post?format=json&token="+url.QueryEscape(token), body, "application/json", http.Header{}, nil)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && strings.Contains(refused.Text, known) {
		return nil
	}
	return err
}

// processed waits until a crash project has so many reports that are read.
func (f *filler) processed(ctx context.Context, project string, n int) error {
	return until(ctx, "the reports of "+project, func() (bool, error) {
		var list struct {
			Pagination pagination `json:"pagination"`
		}
		query := url.Values{"project": {fmt.Sprint(f.projects[project].ID)}, "state": {"processed"}, "per_page": {"1"}}
		err := f.get(ctx, "/api/v3/crashes", query, &list)
		return list.Pagination.Total >= n, err
	})
}

// grouped waits until each bug of a crash project has its group, and there is no other: reports
// whose symbols were not at hand are read again a moment later.
func (f *filler) grouped(ctx context.Context, project string) error {
	var want []string
	for i := range faults {
		if faults[i].project == project {
			want = append(want, faults[i].name)
		}
	}
	return until(ctx, "the groups of "+project, func() (bool, error) {
		var list struct {
			Groups []crashGroup `json:"crash_groups"`
		}
		err := f.get(ctx, "/api/v3/crash-groups", url.Values{"project": {fmt.Sprint(f.projects[project].ID)}}, &list)
		if err != nil || len(list.Groups) != len(want) && !f.projects[project].again {
			return false, err
		}
		for _, name := range want {
			if !slices.ContainsFunc(list.Groups, func(g crashGroup) bool { return strings.Contains(g.Culprit, name) }) {
				return false, nil
			}
		}
		return true, nil
	})
}

// versionAt is the version that had a bug on a day: the newest that was out, but for the few
// who do not update.
func versionAt(f *fault, day int) string {
	at := len(f.versions) - 1 - day*len(f.versions)/days
	return f.versions[max(at, 0)]
}

// user is somebody with a device, by number.
func user(seed uint64, project string, n int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "slipway demo user %d %s %d", seed, project, n)).String()
}

// usersOf is how many people use what a crash project is of.
const usersOf = 600

func newReport(f *fault, seed uint64, n int, version string, at time.Time, random *rand.Rand) map[string]any {
	l := languageOf(f)
	who := random.IntN(usersOf)
	message := f.message
	if strings.Contains(message, "%d") {
		message = fmt.Sprintf(message, 1000+random.IntN(9000))
	}
	attributes := map[string]any{
		marker: markerValue, "error.message": message, "application": "Lamps", "application.version": version,
		"guid": user(seed, f.project, who), "application.session": uuid.NewSHA1(uuid.NameSpaceOID,
			fmt.Appendf(nil, "session %d %s %d", seed, f.project, n)).String(),
		"user.id": fmt.Sprintf("u-%d", 100+who), "hostname": l.devices[who%len(l.devices)], "device.model": l.devices[who%len(l.devices)],
		"os": l.os, "country": []string{"DE", "FR", "JP", "US", "BR"}[who%5],
	}
	id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "slipway demo report %d %s %d", seed, f.project, n))
	report := map[string]any{
		"uuid": id.String(), "timestamp": at.Unix(), "lang": l.lang, "langVersion": l.version, "agent": l.agent, "agentVersion": "1.0",
		"mainThread": "main", "classifiers": []string{f.class}, "attributes": attributes,
		"threads":     map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": f.stack(version)}},
		"annotations": map[string]any{"breadcrumbs": breadcrumbs(at)},
	}
	if l.symbolication != "" {
		report["symbolication"] = l.symbolication
	}
	if l.more != nil {
		l.more(report, attributes, version)
	}
	return report
}

// breadcrumbs are what somebody did before it happened.
func breadcrumbs(at time.Time) []any {
	steps := []struct {
		before         time.Duration
		kind, text, as string
	}{
		{42 * time.Second, "navigation", "Opened the list of lamps", "info"},
		{19 * time.Second, "user", "Tapped \"Add to cart\" of the blue lamp", "info"},
		{8 * time.Second, "http", "GET /api/prices 200 in 184 ms", "debug"},
		{3 * time.Second, "navigation", "Opened the cart", "info"},
		{time.Second, "log", "The price list is older than a day", "warning"},
	}
	list := make([]any, len(steps))
	for i, s := range steps {
		list[i] = map[string]any{"timestamp": at.Add(-s.before).UnixMilli(), "type": s.kind, "level": s.as, "message": s.text}
	}
	return list
}

// starts sends the starts of the apps of the last seven days, which is as far as the server
// takes them: crash-free figures are made of them.
func (f *filler) starts(ctx context.Context) (int, error) {
	const week, daily = 7, 300
	total := 0
	for _, name := range crashProjects[:4] {
		p := f.projects[name]
		at := slices.IndexFunc(faults, func(f fault) bool { return f.project == name })
		for day := range week {
			var summed, unique []any
			for n := range daily {
				attributes := map[string]any{"application.version": versionAt(&faults[at], day), "guid": user(f.config.Seed, name, (n+47*day)%usersOf),
					"application.session": uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "start %d %s %d %d", f.config.Seed, name, day, n)).String()}
				when := p.CreatedAt.Add(-time.Duration(day)*24*time.Hour - time.Hour).Unix()
				summed = append(summed, map[string]any{"timestamp": when, "attributes": attributes, "metric_group": "Application Launches"})
				unique = append(unique, map[string]any{"timestamp": when, "attributes": attributes, "unique": []string{"guid"}})
			}
			for _, events := range []struct {
				path, member string
				list         []any
			}{{"/api/summed-events/submit", "summed_events", summed}, {"/api/unique-events/submit", "unique_events", unique}} {
				body, err := json.Marshal(map[string]any{"application": "Lamps", "appversion": "1", events.member: events.list})
				if err != nil {
					return 0, err
				}
				err = f.send(ctx, http.MethodPost, events.path+"?token="+url.QueryEscape(p.token), body, "application/json", http.Header{}, nil)
				if err != nil {
					return 0, err
				}
			}
			total += daily
		}
	}
	return total, nil
}

// crashGroup is a group as the list shows it.
type crashGroup struct {
	ID          int64     `json:"id"`
	Title       string    `json:"title"`
	Culprit     string    `json:"culprit"`
	State       string    `json:"state"`
	Regressions int       `json:"regressions"`
	ResolvedAt  time.Time `json:"resolved_at"`
}

// group returns the group of a bug, by the function that failed.
func (f *filler) group(ctx context.Context, project, name string) (crashGroup, error) {
	var list struct {
		Groups []crashGroup `json:"crash_groups"`
	}
	query := url.Values{"project": {fmt.Sprint(f.projects[project].ID)}, "search": {name}}
	if err := f.get(ctx, "/api/v3/crash-groups", query, &list); err != nil {
		return crashGroup{}, err
	}
	for _, g := range list.Groups {
		if strings.Contains(g.Culprit, name) {
			return g, nil
		}
	}
	return crashGroup{}, fmt.Errorf("no crash group of %s has the function %s", project, name)
}

var errNoRegression = errors.New("the group did not come back")
