package crash

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

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// ReadingFill writes the groups of the reading part, and ReadingCounts what is counted of
// its crashes.
var (
	//go:embed reading_fill.sql
	ReadingFill string
	//go:embed reading_crashes.sql
	ReadingCrashes string
	//go:embed reading_counts.sql
	ReadingCounts string
)

const (
	ReadingGroups   = 5000
	ReadingStep     = 50_000 // crashes an INSERT
	readingConns    = 4
	readingRequests = 200 // of each list
	readingTarget   = 100 * time.Millisecond
	valuesTarget    = 300 * time.Millisecond // of an attribute's values in a group
)

// measureReading fills the database with crashes and measures each list, four requests at
// once.
func (b *bench) measureReading(ctx context.Context) error {
	largest, err := b.fillForReading(ctx)
	if err != nil {
		return err
	}
	group := fmt.Sprintf("/crash-groups/%d", largest)
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for _, r := range []measure.Reading{
		{Name: "groups", Path: "/crash-groups", Target: readingTarget},
		{Name: "groups, page 150", Path: "/crash-groups?page=150", Target: readingTarget},
		{Name: "groups, most frequent first", Path: "/crash-groups?sort=count&state=open", Target: readingTarget},
		{Name: "groups, most users first", Path: "/crash-groups?sort=users", Target: readingTarget},
		{Name: "groups, most users first, page 150", Path: "/crash-groups?sort=users&page=150", Target: readingTarget},
		{Name: "groups, most users first, seen in the last 7 days", Path: "/crash-groups?sort=users&from=" + day(7), Target: readingTarget},
		{Name: "search: a word of 5 % of the titles", Path: "/crash-groups?search=Checkout", Target: readingTarget},
		{Name: "search: part of a message of few", Path: "/crash-groups?search=order+%d9", Target: readingTarget},
		{Name: "search: what is nowhere", Path: "/crash-groups?search=nowhere%d", Target: readingTarget},
		{Name: "search: two letters", Path: "/crash-groups?search=ch", Target: readingTarget},
		{Name: "attribute: a value of 60 % of the crashes", Path: "/crash-groups?attribute.os=Linux", Target: readingTarget},
		{Name: "attribute: a value of 3 % of the crashes, among 2,000", Path: "/crash-groups?attribute.customer=acme", Target: readingTarget},
		{Name: "attribute: a value of 3 % of the crashes, among few", Path: "/crash-groups?attribute.tier=gold", Target: readingTarget},
		{Name: "attribute: one of 300 values", Path: "/crash-groups?attribute.device.model=model-%d", Target: readingTarget},
		{Name: "attribute: one user", Path: "/crash-groups?attribute.user.id=u%d", Target: readingTarget},
		{Name: "attribute: a number", Path: "/crash-groups?attribute.cpu.count=8", Target: readingTarget},
		{Name: "attribute: nobody has it", Path: "/crash-groups?attribute.customer=none-%d", Target: readingTarget},
		{Name: "attributes: 3 % and 60 % in one crash", Path: "/crash-groups?attribute.customer=acme&attribute.os=Linux", Target: readingTarget},
		{Name: "attributes: a user and 60 %", Path: "/crash-groups?attribute.user.id=u%d&attribute.os=Linux", Target: readingTarget},
		{Name: "groups of a version", Path: "/crash-groups?version=4.%d.0", Target: readingTarget},
		{Name: "groups seen in the last 7 days", Path: "/crash-groups?from=" + day(7), Target: readingTarget},
		{Name: "groups seen in 3 days of last month, by their count then", Path: "/crash-groups?sort=count&from=" +
			day(40) + "T06:00&to=" + day(37) + "T18:00", Target: readingTarget},
		{Name: "a group", Path: group, Target: readingTarget},
		{Name: "trend of a group by hour", Path: group + "/trend?by=hour", Target: readingTarget},
		{Name: "trend of a group by version", Path: group + "/trend?by=version", Target: readingTarget},
		{Name: "groups like a group", Path: group + "/similar", Target: readingTarget},
		{Name: "crashes of the largest group, page 1", Path: group + "/crashes", Target: readingTarget},
		{Name: "crashes of the largest group, page 1,000", Path: group + "/crashes?page=1000", Target: readingTarget},
		{Name: "crashes of the largest group of one customer", Path: group + "/crashes?attribute.customer=acme", Target: readingTarget},
		{Name: "all crashes, page 1", Path: "/crashes", Target: readingTarget},
		{Name: "all crashes of a value of 3 %", Path: "/crashes?attribute.customer=acme", Target: readingTarget},
		{Name: "attributes of a group", Path: group + "/attributes", Target: valuesTarget},
		{Name: "values of an attribute in a group", Path: group + "/attributes?key=device.model", Target: valuesTarget},
		{Name: "attributes of all crashes", Path: "/crash-attributes", Target: valuesTarget},
	} {
		times, err := b.timeReading(ctx, r.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		slices.Sort(times)
		o := &measure.Outcome{Times: times}
		p99 := o.Quantile(0.99)
		b.row(r.Name, fmt.Sprintf("%d at once", readingConns), o, "p99 "+measure.Round(r.Target), p99 <= r.Target)
	}
	return nil
}

// timeReading requests a list on readingConns connections at once.
func (b *bench) timeReading(ctx context.Context, path string) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	group, ctx := errgroup.WithContext(ctx)
	for conn := range readingConns {
		group.Go(func() error {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := conn; n < readingRequests; n += readingConns {
				address := b.product.Base + "/api/v3" + strings.ReplaceAll(path, "%d", strconv.Itoa(n))
				took, err := measure.TimeListRequest(ctx, client, address, func(r *http.Request) { r.Header.Set("X-API-Key", b.product.APIKey) })
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
func (b *bench) fillForReading(ctx context.Context) (largest int64, err error) {
	filled, facets, err := FillReading(ctx, b.db, b.Crashes)
	if err != nil {
		return 0, err
	}
	if filled > 0 {
		b.row(fmt.Sprintf("filled with %d crashes of %d groups; their facets", b.Crashes, ReadingGroups),
			measure.Round(filled)+"; "+measure.Round(facets), nil, "", true)
	}
	err = b.db.GetContext(ctx, &largest, `select id from crash_groups order by count desc limit 1`)
	return largest, err
}

// FillReading writes crashes of many groups, a few of which have most of them, and their
// facets, unless they are there. It returns how long both took; 0 where they were there.
func FillReading(ctx context.Context, db *storage.DB, crashes int) (filled, facets time.Duration, err error) {
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
	if err := exec(ReadingFill, ReadingGroups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	for done := 0; done < crashes; done += ReadingStep {
		if err := exec(ReadingCrashes, done, min(done+ReadingStep, crashes), ReadingGroups); err != nil {
			return fmt.Errorf("crashes: %w", err)
		}
	}
	for statement := range strings.SplitSeq(ReadingCounts, ";\n") {
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
