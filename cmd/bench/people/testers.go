package people

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// TesterFill writes $1 testers with their groups, and a build to which half of them is
// invited. It returns the build's id.
//
//go:embed testers_fill.sql
var TesterFill string

const (
	testerCount    = 100_000
	testerRequests = 300 // of each list
	testerTarget   = 20 * time.Millisecond
	testerAdd      = 10_000
	testerAddLimit = 5 * time.Second
)

// measureTesters fills an organization with testers, and measures their lists and how
// long it takes to add ten thousand more in one call.
func measureTesters(ctx context.Context) error {
	p, db, stop, err := process.StartToFill(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	var build int64
	if err := db.GetContext(ctx, &build, TesterFill, testerCount); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	for _, table := range []string{"users", "memberships", "tester_group_members", "build_invites"} {
		if _, err := db.ExecContext(ctx, `vacuum analyze `+table); err != nil {
			return err
		}
	}
	measure.Row(fmt.Sprintf("filled with %d testers", testerCount), time.Since(began).Round(time.Second).String(), "", true)
	b := strconv.FormatInt(build, 10)
	for _, list := range []measure.Reading{
		{Name: "v3, first page", Path: "/api/v3/testers", Target: testerTarget},
		{Name: "v3, page 2000", Path: "/api/v3/testers?page=2000", Target: testerTarget},
		{Name: "v3, one tester", Path: "/api/v3/testers/%d000", Target: testerTarget},
		{Name: "v3, search: a mail address", Path: "/api/v3/testers?search=tester%d77@", Target: testerTarget},
		{Name: "v3, search: every tester", Path: "/api/v3/testers?search=example.com", Target: testerTarget},
		{Name: "v3, search: one of ten", Path: "/api/v3/testers?search=tester%d", Target: testerTarget},
		{Name: "v3, search: nowhere", Path: "/api/v3/testers?search=nowhere%d", Target: testerTarget},
		{Name: "v3, search: two letters", Path: "/api/v3/testers?search=te", Target: testerTarget},
		{Name: "v3, search and build", Path: "/api/v3/testers?search=tester%d77@&build_id=" + b, Target: testerTarget},
		{Name: "v3, blocked", Path: "/api/v3/testers?blocked=true", Target: testerTarget},
		{Name: "v3, group of 50", Path: "/api/v3/testers?group=few", Target: testerTarget},
		{Name: "v3, group of 100,000", Path: "/api/v3/testers?group=everybody", Target: testerTarget},
		{Name: "v3, with build", Path: "/api/v3/testers?build_id=" + b, Target: testerTarget},
		{Name: "v3, invitations of a build", Path: "/api/v3/builds/" + b + "/invites", Target: testerTarget},
		{Name: "v1, first 25", Path: "/api/1/testers?per_page=25", Target: testerTarget},
		{Name: "v1, first 25 with build", Path: "/api/1/testers?per_page=25&buildId=" + b, Target: testerTarget},
		{Name: "v1, newest 1,000", Path: "/api/1/testers", Target: 0},
		{Name: "v1, newest 1,000 with build", Path: "/api/1/testers?buildId=" + b, Target: 0},
	} {
		if err := measure.List(ctx, p, list, testerRequests); err != nil {
			return err
		}
	}
	return measureTesterAdd(ctx, p)
}

// measureTesterAdd adds testers in one call of version 1.
func measureTesterAdd(ctx context.Context, p *process.Product) error {
	var form strings.Builder
	form.WriteString("group=New&email=")
	for n := range testerAdd {
		fmt.Fprintf(&form, "new%d@example.org,", n)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Base+"/api/1/testers/", strings.NewReader(form.String()))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", p.APIKey)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	began := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("add testers: status %d", res.StatusCode)
	}
	took := time.Since(began)
	measure.Row(fmt.Sprintf("v1, %d testers added in one call", testerAdd), measure.Round(took), measure.Round(testerAddLimit),
		took <= testerAddLimit)
	return nil
}
