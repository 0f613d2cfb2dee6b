package mail

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/worker"
)

// monday is when the digests of these tests are due.
func monday() time.Time { return time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC) }

// organization adds an organization with an owner and a digest that is due on monday.
func (w *world) organization(slug string, recipients ...string) int64 {
	w.t.Helper()
	var org, user int64
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &org,
		`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &user, `insert into users (uuid, kind, username, email, name)
		values ($1, 'person', $2, $2 || '@example.org', '') returning id`, uuid.New(), slug))
	w.exec(`insert into memberships (organization_id, user_id, role) values ($1, $2, 'owner')`, org, user)
	w.digest(org, recipients...)
	return org
}

func (w *world) digest(org int64, recipients ...string) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		return mail.SetSettings(w.t.Context(), tx, account.Actor{Name: "test"}, org, mail.Settings{DigestEnabled: true, DigestWeekday: 1,
			DigestHour: 8, DigestRecipients: recipients}, monday().Add(-time.Minute))
	}))
}

// crash adds a group of crashes that was seen first at a time.
func (w *world) crash(org int64, title string, count int, first time.Time, state string) (id int64) {
	w.t.Helper()
	w.exec(`insert into crash_projects (organization_id, name) values ($1, 'Groupshot') on conflict do nothing`, org)
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, `
		insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count, first_seen,
			last_seen, state)
		select $1, id, '\x00', 1, $2, '', '', $3, $4, $4, $5 from crash_projects where organization_id = $1 returning id`,
		org, title, count, first, state))
	return id
}

func (w *world) suiteRun(org int64, suite uuid.UUID, name, state string, at time.Time) {
	w.t.Helper()
	w.exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, state, created_at)
		values ($1, $2, 1, $3, $4, $5, '', 1, $6, $7)`, uuid.New(), org, suite, name, uuid.New(), state, at)
}

// writeDigests runs a task mail:digest at a time.
func (w *world) writeDigests(now time.Time) DigestResult {
	w.t.Helper()
	task := tasks.NewMaintenance(tasks.MailDigest)
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		_, err := ledger.Insert(w.t.Context(), tx, task)
		return err
	}))
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: task.ID, Kind: tasks.MailDigest.Name, Worker: "test"})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	links := link.Links{}
	d := &Digest{DB: w.db, Letters: letter.New(letter.Config{Links: links}), Links: links, Now: func() time.Time { return now }}
	require.NoError(w.t, d.Handle(w.t.Context(), worker.NewClaim(w.db, claimed)))
	row, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, task.ID)
	require.NoError(w.t, err)
	require.Equal(w.t, ledger.Succeeded, row.State)
	var sum DigestResult
	require.NoError(w.t, json.Unmarshal(*row.Result, &sum))
	return sum
}

// digests returns the digests of an organization, by recipient.
func (w *world) digests(org int64) map[string][]mail.Mail {
	w.t.Helper()
	list, _, err := mail.List(w.t.Context(), w.db, 0, 0)
	require.NoError(w.t, err)
	found := map[string][]mail.Mail{}
	for _, m := range list {
		if m.OrganizationID != nil && *m.OrganizationID == org && m.Kind == "digest" {
			found[m.Recipient] = append(found[m.Recipient], m)
		}
	}
	return found
}

func TestDigestOfAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org, other := w.organization("ann"), w.organization("bob")
	week := monday().AddDate(0, 0, -7)
	w.crash(org, "first <b>of</b> the week", 1, week, "open")
	w.crash(org, "before the week", 9, week.Add(-time.Second), "open")
	w.crash(org, "after the week", 9, monday(), "open")
	w.crash(org, "ignored", 9, week.Add(time.Hour), "ignored")
	root := w.crash(org, "often", 40, monday().Add(-time.Second), "resolved")
	w.exec(`update crash_groups set root_id = $1 where id = $2`, root, w.crash(org, "merged", 9, week.Add(time.Hour), "open"))
	suite := uuid.New()
	for i, state := range []string{"FAILED", "ERROR", "PASSED", "CANCELLED", "RUNNING"} {
		w.suiteRun(org, suite, "Login", state, week.Add(time.Duration(i)*time.Hour))
	}
	w.suiteRun(org, suite, "Login", "FAILED", monday())
	w.suiteRun(other, uuid.New(), "Hers", "PASSED", week)
	w.crash(other, "before hers", 1, week.Add(-time.Second), "open")

	require.Zero(t, w.writeDigests(monday().Add(-time.Second)).Organizations, "not due yet")
	require.Equal(t, DigestResult{Organizations: 2, Mails: 1}, w.writeDigests(monday()))
	require.Empty(t, w.digests(other), "a week without anything has no mail")
	found := w.digests(org)
	require.Len(t, found["ann@example.org"], 1)
	m := found["ann@example.org"][0]
	require.Equal(t, "ann: 2 new crash groups, 2 failed suite runs", m.Subject)
	require.Contains(t, m.TextBody, "from 2026-02-23 up to 2026-03-02")
	require.Contains(t, m.TextBody, "- often (Groupshot, 40 crashes)\n- first <b>of</b> the week (Groupshot, 1 crash)")
	require.Contains(t, m.TextBody, "- Login (2 failed runs, last 2026-02-23 09:00 UTC)")
	for _, absent := range []string{"before", "after", "ignored", "merged", "Hers"} {
		require.NotContains(t, m.TextBody, absent)
	}
	full, err := mail.ByID(t.Context(), w.db, m.ID)
	require.NoError(t, err)
	require.NotContains(t, full.HTMLBody, "<b>of</b>")
	require.Contains(t, full.HTMLBody, "first &lt;b&gt;of&lt;/b&gt; the week")

	require.Zero(t, w.writeDigests(monday().Add(time.Hour)).Organizations, "once a week")
	require.Equal(t, DigestResult{Organizations: 2, Mails: 1}, w.writeDigests(monday().AddDate(0, 0, 7)), "the next week has one of each")
	require.Len(t, w.digests(org)["ann@example.org"], 2)
}

// After a stop of some weeks there is one digest, of the last whole week.
func TestDigestAfterAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.organization("ann")
	w.crash(org, "long ago", 1, monday(), "open")
	w.crash(org, "last week", 1, monday().AddDate(0, 0, 15), "open")
	now := monday().AddDate(0, 0, 23)
	require.Equal(t, DigestResult{Organizations: 1, Mails: 1}, w.writeDigests(now))
	m := w.digests(org)["ann@example.org"][0]
	require.Contains(t, m.TextBody, "from 2026-03-16 up to 2026-03-23")
	require.NotContains(t, m.TextBody, "long ago")
	require.Zero(t, w.writeDigests(now).Organizations)
}

// What cannot be written to, or does not want it, is left out, and nobody gets two.
func TestDigestRecipients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 240) + "@example.org"
	org := w.organization("ann", "lead@example.org", "QA@example.org", "qa@example.org", "gone@example.org", long)
	w.exec(`insert into mail_suppressions (organization_id, email, source) values ($1, 'gone@example.org', 'smtp')`, org)
	quiet := w.organization("bob")
	w.exec(`insert into mail_unsubscribes (organization_id, user_id) select $1, id from users where username = 'bob'`, quiet)
	for i := range digestItems + 2 {
		w.crash(org, fmt.Sprintf("crash %d", i), i+1, monday().Add(-time.Hour), "open")
	}
	w.crash(quiet, "crash", 1, monday().Add(-time.Hour), "open")
	require.Equal(t, DigestResult{Organizations: 2, Mails: 3}, w.writeDigests(monday()))
	require.Empty(t, w.digests(quiet))
	found := w.digests(org)
	require.Len(t, found["lead@example.org"], 1)
	require.Len(t, found["QA@example.org"], 1)
	require.Len(t, found[long], 1)
	require.Contains(t, found["lead@example.org"][0].TextBody, "- crash 11 (Groupshot, 12 crashes)")
	require.Contains(t, found["lead@example.org"][0].TextBody, "and 2 more")
}

// One organization that cannot be served does not keep others from their digest.
func TestDigestGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad, good := w.organization("ann"), w.organization("bob")
	for _, org := range []int64{bad, good} {
		w.crash(org, "crash", 1, monday().Add(-time.Hour), "open")
	}
	w.exec(`create function refuse_ann() returns trigger language plpgsql as $$ begin
		if new.recipient = 'ann@example.org' then raise exception 'refused'; end if; return new; end $$`)
	w.exec(`create trigger refuse_ann before insert on mails for each row execute function refuse_ann()`)
	w.exec(`update mail_settings set digest_due = digest_due - interval '1 day' where organization_id = $1`, bad)
	require.Equal(t, DigestResult{Organizations: 1, Mails: 1, Failed: 1}, w.writeDigests(monday()))
	require.Len(t, w.digests(good)["bob@example.org"], 1)
	require.Zero(t, w.writeDigests(monday().Add(time.Minute)).Failed, "put off")
	w.exec(`drop trigger refuse_ann on mails`)
	require.Equal(t, 1, w.writeDigests(monday().Add(2*time.Hour)).Mails)
	require.Len(t, w.digests(bad)["ann@example.org"], 1)
}
