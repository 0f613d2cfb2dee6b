package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// peopleCommand measures what concerns people and what systems hear of: mail, webhooks,
// lists of testers and of the audit, sessions.
type peopleCommand struct {
	Only []string `help:"Parts to measure, by name; default: all."`
}

// peopleParts are the parts, in the order in which they run. A part prints its rows with
// row.
var peopleParts = []part{
	{name: "webhooks", limit: peopleLimit, run: measureWebhooks},
	{name: "audits", limit: peopleLimit, run: measureAudits},
	{name: "testers", limit: peopleLimit, run: measureTesters},
	{name: "groups", limit: peopleLimit, run: measureGroups},
	{name: "sessions", limit: peopleLimit, run: measureSessions},
	{name: "notify", limit: peopleLimit, run: measureNotify},
}

// Run measures the parts in turn and prints a Markdown table.
func (c *peopleCommand) Run(ctx context.Context) error {
	if err := checkParts(c.Only, peopleParts); err != nil {
		return err
	}
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	return runParts(ctx, c.Only, peopleParts)
}

// peopleLimit is the deadline of a part; the longest fills a million rows.
const peopleLimit = 20 * time.Minute

// startToFill starts the product for lists of many rows: db writes them, with time for
// statements that take minutes. stop ends both.
func startToFill(ctx context.Context) (p *product, db *storage.DB, stop func(), err error) {
	if p, err = startProduct(ctx, ""); err != nil {
		return nil, nil, nil, err
	}
	if db, err = storage.Open(storage.Config{URL: p.database, StatementTimeout: 10 * time.Minute}); err != nil {
		p.stop()
		return nil, nil, nil, err
	}
	return p, db, func() {
		_ = db.Close()
		p.stop()
	}, nil
}

// measureList requests a list again and again on one connection. %d in its path is a
// number of two digits, another one each time, so that no cache answers; a target of 0
// is none.
func measureList(ctx context.Context, p *product, list reading, requests int) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var times []time.Duration
	for n := range requests {
		address := p.base + strings.ReplaceAll(list.path, "%d", strconv.Itoa(n%90+10))
		took, err := timeListRequest(ctx, client, address, func(r *http.Request) { r.Header.Set("X-API-Key", p.apiKey) })
		if err != nil {
			return fmt.Errorf("%s: %w", list.name, err)
		}
		times = append(times, took)
	}
	slices.Sort(times)
	o := &outcome{times: times}
	p99, target := o.quantile(0.99), ""
	if list.target > 0 {
		target = "p99 " + round(list.target)
	}
	row(list.name, "p50 "+round(o.quantile(0.5))+", p99 "+round(p99), target, list.target == 0 || p99 <= list.target)
	return nil
}
