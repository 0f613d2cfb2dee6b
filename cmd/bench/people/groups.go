package people

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// groupsFill writes 100,000 testers of one organization, all in one group, and apps that
// they have by one group, by several, and because every tester has.
//
//go:embed groups.sql
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
	p, db, stop, err := process.StartToFill(ctx)
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
	measure.Row("filled with 100,000 testers", time.Since(began).Round(time.Second).String(), "", true)
	named := func(table, name string) (id int64, err error) {
		err = db.GetContext(ctx, &id, `select id from `+table+` where name = $1`, name)
		return id, err
	}
	everybody, err := named("tester_groups", "everybody")
	if err != nil {
		return err
	}
	lists := []measure.Reading{
		{Name: "v3 groups", Path: "/api/v3/groups", Target: groupTarget},
		{Name: "v3 a group", Path: fmt.Sprintf("/api/v3/groups/%d", everybody), Target: groupTarget},
		{Name: "v1 groups", Path: "/api/1/groups", Target: groupTarget},
		{Name: "v3 group testers", Path: fmt.Sprintf("/api/v3/groups/%d/testers", everybody), Target: groupTarget},
		{Name: "v1 group testers", Path: fmt.Sprintf("/api/1/groups/%d/testers?per_page=200", everybody), Target: groupTarget},
	}
	for _, search := range []struct{ name, text string }{{"a last name, 0.1 %", "berlinmar"}, {"a mail address", "linberlin%d"},
		{"everybody", "example.com"}, {"nobody", "nowhere%d"}, {"two letters", "be"}} {
		lists = append(lists, measure.Reading{Name: "v3 group testers, search: " + search.name,
			Path: fmt.Sprintf("/api/v3/groups/%d/testers?search=%s", everybody, search.text), Target: groupTarget})
	}
	for _, app := range []string{"one group", "three groups and more", "all testers"} {
		id, err := named("projects", app)
		if err != nil {
			return err
		}
		lists = append(lists, measure.Reading{Name: "v2 project testers, " + app, Path: fmt.Sprintf("/api/2/projects/%d/testers",
			id), Target: groupTarget},
			measure.Reading{Name: "v3 project testers, " + app, Path: fmt.Sprintf("/api/v3/projects/%d/testers", id), Target: groupTarget},
			measure.Reading{Name: "v3 project testers, " + app + ", search: a last name",
				Path: fmt.Sprintf("/api/v3/projects/%d/testers?search=berlinmar", id), Target: groupTarget},
			measure.Reading{Name: "v3 project testers, " + app + ", search: everybody",
				Path: fmt.Sprintf("/api/v3/projects/%d/testers?search=example", id), Target: groupTarget})
	}
	for _, list := range lists {
		if err := measure.List(ctx, p, list, groupRequests); err != nil {
			return err
		}
	}
	return measureAdding(ctx, p)
}

// measureAdding puts people whom nobody knows into a group that the request creates.
func measureAdding(ctx context.Context, p *process.Product) error {
	var emails strings.Builder
	for n := range groupAdded {
		fmt.Fprintf(&emails, `"new%d@example.org",`, n)
	}
	text := `{"name":"added","testers":[` + strings.TrimSuffix(emails.String(), ",") + `]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Base+"/api/v3/groups", strings.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", p.APIKey)
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
	measure.Row(fmt.Sprintf("a group with %d new testers created", groupAdded), measure.Round(took),
		measure.Round(groupAddedTarget), took < groupAddedTarget)
	return nil
}
