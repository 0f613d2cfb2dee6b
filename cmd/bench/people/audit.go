package people

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage"
)

// AuditFill writes audit events; $1 of them, from the number $2 on, spread over a year.
//
//go:embed audit_fill.sql
var AuditFill string

const (
	auditEvents   = 1_000_000
	auditStep     = 50_000
	auditRequests = 200 // of each list
	auditWrites   = 5_000
	auditTarget   = 20 * time.Millisecond
)

// measureAudits fills the audit log of one organization and measures its lists, and what
// its indexes cost a writer next to a table that has only those of before.
func measureAudits(ctx context.Context) error {
	p, db, stop, err := process.StartToFill(ctx)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	for done := 0; done < auditEvents; done += auditStep {
		if _, err := db.ExecContext(ctx, AuditFill, auditStep, done, auditEvents); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	if _, err := db.ExecContext(ctx, `vacuum analyze audit_events`); err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("filled with %d events", auditEvents), time.Since(began).Round(time.Second).String(), "", true)
	if err := measureAuditLists(ctx, p); err != nil {
		return err
	}
	return measureAuditWrites(ctx, db)
}

func measureAuditLists(ctx context.Context, p *process.Product) error {
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	for _, list := range []measure.Reading{
		{Name: "v3, first page", Path: "/api/v3/audits", Target: auditTarget},
		{Name: "v3, page 200", Path: "/api/v3/audits?page=200", Target: auditTarget},
		{Name: "v3, a frequent action", Path: "/api/v3/audits?action=build.downloaded", Target: auditTarget},
		{Name: "v3, an action of 0.1 %", Path: "/api/v3/audits?action=security.changed", Target: auditTarget},
		{Name: "v3, an action that never was", Path: "/api/v3/audits?action=site.created", Target: auditTarget},
		{Name: "v3, a week of last year", Path: "/api/v3/audits?from=" + day(200) + "&to=" + day(193), Target: auditTarget},
		{Name: "v3, an action in a month", Path: "/api/v3/audits?action=security.changed&from=" + day(200) + "&to=" +
			day(170), Target: auditTarget},
		{Name: "v3, search: a mail address", Path: "/api/v3/audits?search=tester%d@example.com", Target: auditTarget},
		{Name: "v3, search: in every event", Path: "/api/v3/audits?search=example.com", Target: auditTarget},
		{Name: "v3, search: in 0.5 % of the events", Path: "/api/v3/audits?search=rarity", Target: auditTarget},
		{Name: "v3, search: nowhere", Path: "/api/v3/audits?search=nowhere%d", Target: auditTarget},
		{Name: "v3, search: a mail address, with an action and dates",
			Path: "/api/v3/audits?search=tester%d@example.com&action=build.downloaded&from=" + day(200), Target: auditTarget},
		{Name: "v3, search: two letters", Path: "/api/v3/audits?search=zq", Target: auditTarget},
		{Name: "v3, actions", Path: "/api/v3/audits/actions", Target: auditTarget},
		{Name: "v2, first page", Path: "/api/2/audits", Target: auditTarget},
		{Name: "v2, admin trail", Path: "/api/2/audits/admin-trail", Target: auditTarget},
		{Name: "v2, tester trail", Path: "/api/2/audits/tester-trail", Target: auditTarget},
		{Name: "v2, action_type", Path: "/api/2/audits?action_type=1905", Target: auditTarget},
		{Name: "v2, tester trail in a month", Path: "/api/2/audits/tester-trail?start_date=" + day(200) + "&end_date=" +
			day(170), Target: auditTarget},
	} {
		if err := measure.List(ctx, p, list, auditRequests); err != nil {
			return err
		}
	}
	return nil
}

// auditWrite writes one event as the product does.
const auditWrite = `
insert into %s (organization_id, type, action, actor_user_id, actor, subject, detail, request_id, ip_address)
values (1, 1410, 'build.downloaded', 1, 'tester' || $1::text || '@example.com', 'build ' || $1::text,
	jsonb_build_object('projectId', $1::bigint %% 97, 'buildId', $1::bigint, 'appName', 'Shop', 'appVersion', '1.0 (10)',
		'testerEmail', 'tester' || $1::text || '@example.com', 'filesize', 1048576), 'request-' || $1::text, '192.0.2.17')`

// measureAuditWrites writes events in one transaction, first into a copy of the table
// that has the indexes of before.
func measureAuditWrites(ctx context.Context, db *storage.DB) error {
	for _, statement := range []string{
		`create table audit_before (like audit_events including defaults including identity)`,
		`insert into audit_before select * from audit_events`,
		`alter table audit_before add primary key (id)`,
		`create index on audit_before (organization_id, id desc)`,
		`select setval(pg_get_serial_sequence('audit_before', 'id'), (select max(id) from audit_events))`,
	} {
		if _, err := db.ExecContext(ctx, strings.Replace(statement, "select * from", "overriding system value select * from", 1)); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	took := map[string]time.Duration{}
	for _, table := range []string{"audit_before", "audit_events"} {
		began := time.Now()
		err := db.InTx(ctx, func(tx *storage.Tx) error {
			for n := range auditWrites {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf(auditWrite, table), strconv.Itoa(n)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		took[table] = time.Since(began) / auditWrites
	}
	measure.Row("an event written, without a commit of its own", fmt.Sprintf("%s; %s with the indexes of before",
		took["audit_events"].Round(time.Microsecond),
		took["audit_before"].Round(time.Microsecond)), "", true)
	return nil
}
