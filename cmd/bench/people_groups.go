package main

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// groupsFill writes 100,000 testers of one organization, all in one group, and apps that
// they have by one group, by several, and because every tester has.
//
//go:embed people_groups.sql
var groupsFill string

const (
	groupRequests = 200 // of each list
	groupTarget   = 20 * time.Millisecond
	// groupAdded are the testers that one request puts into a group.
	groupAdded       = 10_000
	groupAddedTarget = 5 * time.Second
)

// measureGroups measures the lists of testers of groups and apps, and a request that
// adds ten thousand.
func measureGroups(ctx context.Context) error {
	p, db, stop, err := startToFill(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	for statement := range strings.SplitSeq(groupsFill, ";\n") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	row("filled with 100,000 testers", time.Since(began).Round(time.Second).String(), "", true)
	named := func(table, name string) (id int64, err error) {
		err = db.GetContext(ctx, &id, `select id from `+table+` where name = $1`, name)
		return id, err
	}
	everybody, err := named("tester_groups", "everybody")
	if err != nil {
		return err
	}
	lists := []reading{
		{"v3 groups", "/api/v3/groups", groupTarget},
		{"v3 a group", fmt.Sprintf("/api/v3/groups/%d", everybody), groupTarget},
		{"v1 groups", "/api/1/groups", groupTarget},
		{"v3 group testers", fmt.Sprintf("/api/v3/groups/%d/testers", everybody), groupTarget},
		{"v1 group testers", fmt.Sprintf("/api/1/groups/%d/testers?per_page=200", everybody), groupTarget},
	}
	for _, search := range []struct{ name, text string }{{"a last name, 0.1 %", "berlinmar"}, {"a mail address", "linberlin%d"},
		{"everybody", "example.com"}, {"nobody", "nowhere%d"}, {"two letters", "be"}} {
		lists = append(lists, reading{"v3 group testers, search: " + search.name,
			fmt.Sprintf("/api/v3/groups/%d/testers?search=%s", everybody, search.text), groupTarget})
	}
	for _, app := range []string{"one group", "three groups and more", "all testers"} {
		id, err := named("projects", app)
		if err != nil {
			return err
		}
		lists = append(lists, reading{"v2 project testers, " + app, fmt.Sprintf("/api/2/projects/%d/testers", id), groupTarget},
			reading{"v3 project testers, " + app, fmt.Sprintf("/api/v3/projects/%d/testers", id), groupTarget},
			reading{"v3 project testers, " + app + ", search: a last name", fmt.Sprintf("/api/v3/projects/%d/testers?search=berlinmar", id), groupTarget},
			reading{"v3 project testers, " + app + ", search: everybody", fmt.Sprintf("/api/v3/projects/%d/testers?search=example", id), groupTarget})
	}
	for _, list := range lists {
		if err := measureList(ctx, p, list, groupRequests); err != nil {
			return err
		}
	}
	return measureAdding(ctx, p)
}

// measureAdding puts people whom nobody knows into a group that the request creates.
func measureAdding(ctx context.Context, p *product) error {
	var emails strings.Builder
	for n := range groupAdded {
		fmt.Fprintf(&emails, `"new%d@example.org",`, n)
	}
	text := `{"name":"added","testers":[` + strings.TrimSuffix(emails.String(), ",") + `]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/api/v3/groups", strings.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", p.apiKey)
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("add testers: %s", response.Status)
	}
	took := time.Since(began)
	row(fmt.Sprintf("a group with %d new testers created", groupAdded), round(took), round(groupAddedTarget), took < groupAddedTarget)
	return nil
}
