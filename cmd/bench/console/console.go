// Package console measures the pages of the console among a million crashes and tasks: the
// time of each kind of page, and the bytes of a first load.
//
// It fills a database, signs in as its owner and as an operator, follows the links from page to page until each
// kind of page is known, and requests some of each kind from several connections at once. The
// filled folder can be kept for the next time. A page that answers with an error is named in its
// row, and one that does so while links are followed is left out.
package console

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/bench/crash"
	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/people"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage"
)

// What fills the pages of the console, beside the crashes of the reading part, the audit
// and the testers.
var (
	//go:embed builds.sql
	consoleBuilds string
	//go:embed builds_counts.sql
	consoleBuildCounts string
	//go:embed runs.sql
	consoleRuns string
	//go:embed tasks.sql
	consoleTasks string
)

const (
	consoleConns = 4
	consoleStep  = 50_000                 // tasks an INSERT
	pageTarget   = 150 * time.Millisecond // p99 of a page on the server
	firstTarget  = 60 << 10               // of the first page with style and script, compressed
	// patternMost addresses of each kind of page are asked.
	patternMost = 4
	// crawlMost pages are read in search of others.
	crawlMost = 1500
)

// Command measures the pages of the console among many rows.
type Command struct {
	Crashes  int    `default:"1000000" help:"Crashes in the database, of 5,000 groups."`
	Builds   int    `default:"100000" help:"Builds of a hundred apps."`
	Runs     int    `default:"100000" help:"Runs of a thousand test cases."`
	Tasks    int    `default:"1000000" help:"Tasks of the ledger."`
	Requests int    `default:"100" help:"Requests of each page."`
	Only     string `help:"Measure the pages whose address contains this."`
	Binary   string `help:"The slipway to measure; default: built from this source."`
	DataDir  string `name:"data-dir" help:"Keep the data in this folder, and use what is there; default: a temporary folder."`
}

// consoleLimit is the deadline: filling takes minutes, and so does each page that is slow.
const consoleLimit = 2 * time.Hour

// Run fills the database, follows the links of the console from its start, and prints a
// Markdown table with the times of each kind of page, slowest first.
func (c *Command) Run(ctx context.Context) error {
	return measure.RunParts(ctx, nil, []measure.Part{{Name: "console", Limit: consoleLimit, Run: c.measure}})
}

func (c *Command) measure(ctx context.Context) error {
	p, err := process.StartIn(ctx, c.Binary, c.DataDir)
	if err != nil {
		return err
	}
	defer p.Stop()
	if err := c.fill(ctx, p); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	fmt.Printf("%d crashes, %d builds, %d runs, %d tasks; %d requests at once\n\n| page | asked | p50 | p99 | target | |\n"+
		"|---|---|---|---|---|---|\n",
		c.Crashes, c.Builds, c.Runs, c.Tasks, consoleConns)
	missed := 0
	for _, who := range []struct{ name, key string }{{p.Username, p.AccessKey}, {p.Operator, p.OperatorPassword}} {
		v := &consoleVisitor{base: p.Base}
		if err := v.signIn(ctx, who.name, who.key); err != nil {
			return err
		}
		found, err := v.crawl(ctx)
		if err != nil {
			return err
		}
		n, err := c.measurePages(ctx, v, found)
		if err != nil {
			return err
		}
		missed += n
		if found["/"] == nil {
			continue // operators have no overview
		}
		if err := v.measureFirst(ctx); err != nil {
			return fmt.Errorf("first load: %w", err)
		}
	}
	fmt.Printf("\n%d kinds of pages above the target\n", missed)
	return nil
}

// consoleViews are pages that no link leads to: what somebody asks by a form.
var consoleViews = []string{
	"/search?q=Checkout", "/search?q=order+19", "/search?q=nowhere", "/search?q=com.example.shop17", "/search?q=button-3", "/search?q=ch",
	"/crashes?sort=count&state=open", "/crashes?search=Checkout", "/crashes?search=nowhere", "/crashes?page=90", "/crashes?attribute.os=Linux",
	"/operate?state=dead", "/operate?error=answered+503", "/operate?type=mail:send&state=succeeded", "/operate?page=200",
	"/tests?search=voucher", "/builds?search=Shop+9", "/settings/audit?search=tester17",
}

// consolePage is a kind of page: its address with a word in the place of ids, and some of
// its addresses.
type consolePage struct {
	pattern   string
	addresses []string
	times     measure.Outcome
	status    map[int]int
}

// measurePages requests each kind of page on some connections at once and prints a row for
// each. It returns how many kinds are slower than the target.
func (c *Command) measurePages(ctx context.Context, v *consoleVisitor, found map[string]*consolePage) (missed int, err error) {
	for _, view := range consoleViews {
		if path, _, _ := strings.Cut(view, "?"); found[path] != nil { // others refuse who is signed in
			found[view] = &consolePage{pattern: view, addresses: []string{frame.Base + view}}
		}
	}
	var measured []*consolePage
	for _, pattern := range slices.Sorted(maps.Keys(found)) {
		page := found[pattern]
		if !strings.Contains(pattern, c.Only) {
			continue
		}
		if err := v.time(ctx, page, c.Requests); err != nil {
			return 0, err
		}
		measured = append(measured, page)
	}
	slices.SortFunc(measured, func(a, b *consolePage) int { return cmp.Compare(b.times.Quantile(0.99), a.times.Quantile(0.99)) })
	for _, page := range measured {
		p99 := page.times.Quantile(0.99)
		mark := "met"
		if p99 > pageTarget {
			mark = "missed"
			missed++
		}
		note := ""
		for status, n := range page.status {
			if status != http.StatusOK {
				note += fmt.Sprintf("; %d answers %d", n, status)
			}
		}
		fmt.Printf("| %s | %d%s | %s | %s | p99 %s | %s |\n", page.pattern, len(page.times.Times), note,
			measure.Round(page.times.Quantile(0.5)), measure.Round(p99), measure.Round(pageTarget), mark)
	}
	return missed, nil
}

// fill writes what is not there yet.
func (c *Command) fill(ctx context.Context, p *process.Product) error {
	db, err := storage.Open(storage.Config{URL: p.Database, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer db.Close()
	began := time.Now()
	if _, _, err := crash.FillReading(ctx, db, c.Crashes); err != nil {
		return fmt.Errorf("crashes: %w", err)
	}
	var isThere bool
	if err := db.GetContext(ctx, &isThere,
		`select exists (select from files where object_key like 'bench/console/%')`); err != nil || isThere {
		return err
	}
	type statement struct {
		query string
		args  []any
	}
	statements := []statement{{consoleRuns, []any{c.Runs}}, {people.TesterFill, []any{10_000}}, {people.AuditFill, []any{200_000, 0, 200_000}}}
	for done := 0; done < c.Tasks; done += consoleStep {
		statements = append(statements, statement{consoleTasks, []any{min(consoleStep, c.Tasks-done), done, c.Tasks}})
	}
	statements = append(statements, statement{consoleBuilds, []any{c.Builds}}, statement{consoleBuildCounts, nil},
		statement{`vacuum analyze`, nil})
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s.query, s.args...); err != nil {
			return fmt.Errorf("%.80s: %w", s.query, err)
		}
	}
	fmt.Printf("filled in %s\n\n", time.Since(began).Round(time.Second))
	return nil
}
