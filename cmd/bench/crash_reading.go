package main

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// readingFill writes the groups of the reading part, and readingCounts what is counted of
// its crashes.
var (
	//go:embed crash_reading_fill.sql
	readingFill string
	//go:embed crash_reading_crashes.sql
	readingCrashes string
	//go:embed crash_reading_counts.sql
	readingCounts string
)

const (
	readingGroups   = 5000
	readingStep     = 50_000 // crashes an INSERT
	readingConns    = 4
	readingRequests = 200 // of each list
	readingTarget   = 100 * time.Millisecond
	valuesTarget    = 300 * time.Millisecond // of an attribute's values in a group
)

// reading is a list that is measured; %d stands for the number of the request, so that
// not the same rows are read each time.
type reading struct {
	name, path string
	target     time.Duration
}

// measureReading fills the database with crashes and measures each list, four requests at
// once.
func (b *crashBench) measureReading(ctx context.Context) error {
	largest, err := b.fillForReading(ctx)
	if err != nil {
		return err
	}
	group := fmt.Sprintf("/crash-groups/%d", largest)
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for _, r := range []reading{
		{"groups", "/crash-groups", readingTarget},
		{"groups, page 150", "/crash-groups?page=150", readingTarget},
		{"groups, most frequent first", "/crash-groups?sort=count&state=open", readingTarget},
		{"groups, most users first", "/crash-groups?sort=users", readingTarget},
		{"groups, most users first, page 150", "/crash-groups?sort=users&page=150", readingTarget},
		{"groups, most users first, seen in the last 7 days", "/crash-groups?sort=users&from=" + day(7), readingTarget},
		{"search: a word of 5 % of the titles", "/crash-groups?search=Checkout", readingTarget},
		{"search: part of a message of few", "/crash-groups?search=order+%d9", readingTarget},
		{"search: what is nowhere", "/crash-groups?search=nowhere%d", readingTarget},
		{"search: two letters", "/crash-groups?search=ch", readingTarget},
		{"attribute: a value of 60 % of the crashes", "/crash-groups?attribute.os=Linux", readingTarget},
		{"attribute: a value of 3 % of the crashes, among 2,000", "/crash-groups?attribute.customer=acme", readingTarget},
		{"attribute: a value of 3 % of the crashes, among few", "/crash-groups?attribute.tier=gold", readingTarget},
		{"attribute: one of 300 values", "/crash-groups?attribute.device.model=model-%d", readingTarget},
		{"attribute: one user", "/crash-groups?attribute.user.id=u%d", readingTarget},
		{"attribute: a number", "/crash-groups?attribute.cpu.count=8", readingTarget},
		{"attribute: nobody has it", "/crash-groups?attribute.customer=none-%d", readingTarget},
		{"attributes: 3 % and 60 % in one crash", "/crash-groups?attribute.customer=acme&attribute.os=Linux", readingTarget},
		{"attributes: a user and 60 %", "/crash-groups?attribute.user.id=u%d&attribute.os=Linux", readingTarget},
		{"groups of a version", "/crash-groups?version=4.%d.0", readingTarget},
		{"groups seen in the last 7 days", "/crash-groups?from=" + day(7), readingTarget},
		{"groups seen in 3 days of last month, by their count then", "/crash-groups?sort=count&from=" + day(40) + "T06:00&to=" + day(37) + "T18:00", readingTarget},
		{"a group", group, readingTarget},
		{"trend of a group by hour", group + "/trend?by=hour", readingTarget},
		{"trend of a group by version", group + "/trend?by=version", readingTarget},
		{"groups like a group", group + "/similar", readingTarget},
		{"crashes of the largest group, page 1", group + "/crashes", readingTarget},
		{"crashes of the largest group, page 1,000", group + "/crashes?page=1000", readingTarget},
		{"crashes of the largest group of one customer", group + "/crashes?attribute.customer=acme", readingTarget},
		{"all crashes, page 1", "/crashes", readingTarget},
		{"all crashes of a value of 3 %", "/crashes?attribute.customer=acme", readingTarget},
		{"attributes of a group", group + "/attributes", valuesTarget},
		{"values of an attribute in a group", group + "/attributes?key=device.model", valuesTarget},
		{"attributes of all crashes", "/crash-attributes", valuesTarget},
	} {
		times, err := b.timeReading(ctx, r.path)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		slices.Sort(times)
		o := &outcome{times: times}
		p99 := o.quantile(0.99)
		b.row(r.name, fmt.Sprintf("%d at once", readingConns), o, "p99 "+round(r.target), p99 <= r.target)
	}
	return nil
}

// timeReading requests a list on readingConns connections at once.
func (b *crashBench) timeReading(ctx context.Context, path string) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	group, ctx := errgroup.WithContext(ctx)
	for conn := range readingConns {
		group.Go(func() error {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := conn; n < readingRequests; n += readingConns {
				address := b.product.base + "/api/v3" + strings.ReplaceAll(path, "%d", strconv.Itoa(n))
				took, err := timeListRequest(ctx, client, address, func(r *http.Request) { r.Header.Set("X-API-Key", b.product.apiKey) })
				if err != nil {
					return err
				}
				if n < readingConns {
					continue // warms the connection and the caches
				}
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
			return nil
		})
	}
	return times, group.Wait()
}

// fillForReading writes the crashes of the reading part, says how long that took, and returns
// the largest group.
func (b *crashBench) fillForReading(ctx context.Context) (largest int64, err error) {
	filled, facets, err := fillReading(ctx, b.db, b.Crashes)
	if err != nil {
		return 0, err
	}
	if filled > 0 {
		b.row(fmt.Sprintf("filled with %d crashes of %d groups; their facets", b.Crashes, readingGroups), round(filled)+"; "+round(facets), nil, "", true)
	}
	err = b.db.GetContext(ctx, &largest, `select id from crash_groups order by count desc limit 1`)
	return largest, err
}

// fillReading writes crashes of many groups, a few of which have most of them, and their
// facets, unless they are there. It returns how long both took; 0 where they were there.
func fillReading(ctx context.Context, db *storage.DB, crashes int) (filled, facets time.Duration, err error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `set statement_timeout = 0`); err != nil {
		return 0, 0, err
	}
	var isThere bool
	if err := conn.GetContext(ctx, &isThere, `select exists (select from crash_groups where culprit = 'reading 1')`); err != nil || isThere {
		return 0, 0, err
	}
	exec := func(query string, args ...any) error {
		_, err := conn.ExecContext(ctx, query, args...)
		return err
	}
	started := time.Now()
	if err := writeReading(exec, crashes); err != nil {
		return 0, 0, err
	}
	filled = time.Since(started)
	if err := buildFacets(ctx, db); err != nil {
		return 0, 0, err
	}
	if err := countUsers(ctx, db); err != nil {
		return 0, 0, err
	}
	return filled, time.Since(started) - filled, exec("vacuum analyze")
}

func writeReading(exec func(query string, args ...any) error, crashes int) error {
	if err := exec(readingFill, readingGroups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	for done := 0; done < crashes; done += readingStep {
		if err := exec(readingCrashes, done, min(done+readingStep, crashes), readingGroups); err != nil {
			return fmt.Errorf("crashes: %w", err)
		}
	}
	for statement := range strings.SplitSeq(readingCounts, ";\n") {
		if err := exec(statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return nil
}

// buildFacets does what the worker does for groups from before there were facets.
func buildFacets(ctx context.Context, db *storage.DB) error {
	for {
		ids, err := crash.UnbuiltFacets(ctx, db, time.Unix(0, 0), 1000)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := db.InTx(ctx, func(tx *storage.Tx) error { return crash.BuildFacets(ctx, tx, id) }); err != nil {
				return err
			}
		}
	}
}

// countUsers does what the worker does for groups from before users were counted.
func countUsers(ctx context.Context, db *storage.DB) error {
	for {
		ids, err := crash.UncountedUsers(ctx, db, 1000)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := db.InTx(ctx, func(tx *storage.Tx) error { return crash.CountUsers(ctx, tx, id) }); err != nil {
				return err
			}
		}
	}
}
