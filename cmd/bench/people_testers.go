package main

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// testerFill writes $1 testers with their groups, and a build to which half of them is
// invited. It returns the build's id.
//
//go:embed people_testers_fill.sql
var testerFill string

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
	p, db, stop, err := startToFill(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	var build int64
	if err := db.GetContext(ctx, &build, testerFill, testerCount); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	for _, table := range []string{"users", "memberships", "tester_group_members", "build_invites"} {
		if _, err := db.ExecContext(ctx, `vacuum analyze `+table); err != nil {
			return err
		}
	}
	row(fmt.Sprintf("filled with %d testers", testerCount), time.Since(began).Round(time.Second).String(), "", true)
	b := strconv.FormatInt(build, 10)
	for _, list := range []reading{
		{"v3, first page", "/api/v3/testers", testerTarget},
		{"v3, page 2000", "/api/v3/testers?page=2000", testerTarget},
		{"v3, one tester", "/api/v3/testers/%d000", testerTarget},
		{"v3, search: a mail address", "/api/v3/testers?search=tester%d77@", testerTarget},
		{"v3, search: every tester", "/api/v3/testers?search=example.com", testerTarget},
		{"v3, search: one of ten", "/api/v3/testers?search=tester%d", testerTarget},
		{"v3, search: nowhere", "/api/v3/testers?search=nowhere%d", testerTarget},
		{"v3, search: two letters", "/api/v3/testers?search=te", testerTarget},
		{"v3, search and build", "/api/v3/testers?search=tester%d77@&build_id=" + b, testerTarget},
		{"v3, blocked", "/api/v3/testers?blocked=true", testerTarget},
		{"v3, group of 50", "/api/v3/testers?group=few", testerTarget},
		{"v3, group of 100,000", "/api/v3/testers?group=everybody", testerTarget},
		{"v3, with build", "/api/v3/testers?build_id=" + b, testerTarget},
		{"v3, invitations of a build", "/api/v3/builds/" + b + "/invites", testerTarget},
		{"v1, first 25", "/api/1/testers?per_page=25", testerTarget},
		{"v1, first 25 with build", "/api/1/testers?per_page=25&buildId=" + b, testerTarget},
		{"v1, newest 1,000", "/api/1/testers", 0},
		{"v1, newest 1,000 with build", "/api/1/testers?buildId=" + b, 0},
	} {
		if err := measureList(ctx, p, list, testerRequests); err != nil {
			return err
		}
	}
	return measureTesterAdd(ctx, p)
}

// measureTesterAdd adds testers in one call of version 1.
func measureTesterAdd(ctx context.Context, p *product) error {
	var form strings.Builder
	form.WriteString("group=New&email=")
	for n := range testerAdd {
		fmt.Fprintf(&form, "new%d@example.org,", n)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/api/1/testers/", strings.NewReader(form.String()))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", p.apiKey)
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
	row(fmt.Sprintf("v1, %d testers added in one call", testerAdd), round(took), round(testerAddLimit), took <= testerAddLimit)
	return nil
}
