package main

import (
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// What fills the pages of the console, beside the crashes of the reading part, the audit
// and the testers.
var (
	//go:embed console_builds.sql
	consoleBuilds string
	//go:embed console_builds_counts.sql
	consoleBuildCounts string
	//go:embed console_runs.sql
	consoleRuns string
	//go:embed console_tasks.sql
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

// consoleCommand measures the pages of the console among many rows.
type consoleCommand struct {
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
func (c *consoleCommand) Run(ctx context.Context) error {
	return runParts(ctx, nil, []part{{name: "console", limit: consoleLimit, run: c.measure}})
}

func (c *consoleCommand) measure(ctx context.Context) error {
	p, err := startProductIn(ctx, c.Binary, c.DataDir)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := c.fill(ctx, p); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	fmt.Printf("%d crashes, %d builds, %d runs, %d tasks; %d requests at once\n\n| page | asked | p50 | p99 | target | |\n|---|---|---|---|---|---|\n",
		c.Crashes, c.Builds, c.Runs, c.Tasks, consoleConns)
	missed := 0
	for _, who := range []struct{ name, key string }{{p.username, p.accessKey}, {p.operator, p.operatorPassword}} {
		v := &consoleVisitor{base: p.base}
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
	times     outcome
	status    map[int]int
}

// measurePages requests each kind of page on some connections at once and prints a row for
// each. It returns how many kinds are slower than the target.
func (c *consoleCommand) measurePages(ctx context.Context, v *consoleVisitor, found map[string]*consolePage) (missed int, err error) {
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
	slices.SortFunc(measured, func(a, b *consolePage) int { return cmp.Compare(b.times.quantile(0.99), a.times.quantile(0.99)) })
	for _, page := range measured {
		p99 := page.times.quantile(0.99)
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
		fmt.Printf("| %s | %d%s | %s | %s | p99 %s | %s |\n", page.pattern, len(page.times.times), note, round(page.times.quantile(0.5)), round(p99), round(pageTarget), mark)
	}
	return missed, nil
}

// fill writes what is not there yet.
func (c *consoleCommand) fill(ctx context.Context, p *product) error {
	db, err := storage.Open(storage.Config{URL: p.database, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer db.Close()
	began := time.Now()
	if _, _, err := fillReading(ctx, db, c.Crashes); err != nil {
		return fmt.Errorf("crashes: %w", err)
	}
	var isThere bool
	if err := db.GetContext(ctx, &isThere, `select exists (select from files where object_key like 'bench/console/%')`); err != nil || isThere {
		return err
	}
	type statement struct {
		query string
		args  []any
	}
	statements := []statement{{consoleRuns, []any{c.Runs}}, {testerFill, []any{10_000}}, {auditFill, []any{200_000, 0, 200_000}}}
	for done := 0; done < c.Tasks; done += consoleStep {
		statements = append(statements, statement{consoleTasks, []any{min(consoleStep, c.Tasks-done), done, c.Tasks}})
	}
	statements = append(statements, statement{consoleBuilds, []any{c.Builds}}, statement{consoleBuildCounts, nil}, statement{`vacuum analyze`, nil})
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s.query, s.args...); err != nil {
			return fmt.Errorf("%.80s: %w", s.query, err)
		}
	}
	fmt.Printf("filled in %s\n\n", time.Since(began).Round(time.Second))
	return nil
}

// consoleVisitor is somebody who is signed in to the console.
type consoleVisitor struct {
	base   string
	cookie []*http.Cookie
}

func (v *consoleVisitor) signIn(ctx context.Context, name, key string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	form := url.Values{"name": {name}, "key": {key}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+frame.Base+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := (&http.Client{Jar: jar}).Do(r)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	v.cookie = jar.Cookies(r.URL)
	if len(v.cookie) == 0 {
		return fmt.Errorf("sign in as %s: %s", name, response.Status)
	}
	return nil
}

// get reads a page as a browser does, compressed, and returns its bytes as they came.
func (v *consoleVisitor) get(ctx context.Context, client *http.Client, address string) (status int, packed []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+address, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Accept", "text/html")
	for _, cookie := range v.cookie {
		r.AddCookie(cookie)
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	packed, err = io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" || response.StatusCode != http.StatusOK {
		return response.StatusCode, nil, err
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/") {
		return response.StatusCode, nil, nil
	}
	return response.StatusCode, packed, nil
}

// plainClient does not follow redirects: a page is what answers at its own address.
func plainClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// isID reports a segment of a path that names a row: a number, a uuid, an id of authoring.
var isID = regexp.MustCompile(`^([0-9]+|[0-9a-f-]{24,36})$`)

// patternOf is a path with :id in the place of ids.
func patternOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, frame.Base), "/")
	for i, part := range parts {
		if isID.MatchString(part) {
			parts[i] = ":id"
		}
	}
	return cmp.Or(strings.Join(parts, "/"), "/")
}

// crawl follows the links from the start of the console and returns the kinds of pages that
// are HTML, with some addresses each.
func (v *consoleVisitor) crawl(ctx context.Context) (map[string]*consolePage, error) {
	client := plainClient()
	defer client.CloseIdleConnections()
	found, seen, todo := map[string]*consolePage{}, map[string]bool{}, []string{frame.Base, frame.Base + "/operate"}
	for read := 0; len(todo) > 0 && read < crawlMost; {
		address := todo[0]
		todo = todo[1:]
		path, _, _ := strings.Cut(address, "?")
		pattern := patternOf(path)
		if seen[path] || found[pattern] != nil && len(found[pattern].addresses) >= patternMost {
			continue
		}
		seen[path] = true
		read++
		status, packed, err := v.get(ctx, client, address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		if status != http.StatusOK || packed == nil {
			continue
		}
		links, isPage, err := consoleLinks(v.base+address, packed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		if !isPage {
			continue
		}
		if found[pattern] == nil {
			found[pattern] = &consolePage{pattern: pattern}
		}
		found[pattern].addresses = append(found[pattern].addresses, address)
		todo = append(todo, links...)
	}
	return found, nil
}

// consoleLinks are the links of a page to pages of the console; isPage says that it is one.
func consoleLinks(address string, packed []byte) (links []string, isPage bool, err error) {
	unpacked, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return nil, false, err
	}
	root, err := html.Parse(unpacked)
	if err != nil {
		return nil, false, err
	}
	here, err := url.Parse(address)
	if err != nil {
		return nil, false, err
	}
	for n := range root.Descendants() {
		isPage = isPage || n.Data == "main"
		if n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			if to, err := here.Parse(a.Val); err == nil && to.Host == here.Host && strings.HasPrefix(to.Path, frame.Base) {
				links = append(links, to.RequestURI())
			}
		}
	}
	return links, isPage, nil
}

// time requests the addresses of a page in turn, on some connections at once.
func (v *consoleVisitor) time(ctx context.Context, page *consolePage, requests int) error {
	var mu sync.Mutex
	page.status = map[int]int{}
	group, ctx := errgroup.WithContext(ctx)
	for conn := range consoleConns {
		group.Go(func() error {
			client := plainClient()
			defer client.CloseIdleConnections()
			for n := conn; n < requests+consoleConns; n += consoleConns {
				began := time.Now()
				status, _, err := v.get(ctx, client, page.addresses[n%len(page.addresses)])
				took := time.Since(began)
				if err != nil {
					return fmt.Errorf("%s: %w", page.pattern, err)
				}
				mu.Lock()
				page.status[status]++
				if n >= consoleConns { // the first warms the connection
					page.times.times = append(page.times.times, took)
				}
				mu.Unlock()
			}
			return nil
		})
	}
	err := group.Wait()
	slices.Sort(page.times.times)
	return err
}

// measureFirst adds up what a browser loads for the first page, without pictures.
func (v *consoleVisitor) measureFirst(ctx context.Context) error {
	client := plainClient()
	defer client.CloseIdleConnections()
	_, page, err := v.get(ctx, client, frame.Base)
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(strings.NewReader(string(page)))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return err
	}
	sum := len(page)
	assets := regexp.MustCompile(`(?:href|src)="(`+frame.Base+`/assets/[^"]+\.(?:css|js)[^"]*)"`).FindAllStringSubmatch(string(text), -1)
	if len(assets) == 0 {
		return errors.New("the first page names no style and script")
	}
	for _, asset := range assets {
		_, packed, err := v.get(ctx, client, html.UnescapeString(asset[1]))
		if err != nil {
			return err
		}
		sum += len(packed)
	}
	mark := "met"
	if sum > firstTarget {
		mark = "missed"
	}
	fmt.Printf("| first load, with style and script | %d bytes compressed | | | %d bytes | %s |\n", sum, firstTarget, mark)
	return nil
}
