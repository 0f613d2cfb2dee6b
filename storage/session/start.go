package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/install"
)

// Start is a session that begins.
type Start struct {
	OrganizationID int64
	ProjectID      int64
	ClientID       uuid.UUID
	// BuildID is the id of a build of the app: another one refuses the start. 0: the
	// newest build of Version and VersionCode is looked for; without the code, of the
	// version; a session of a version that has no build belongs to none.
	BuildID     int64
	Version     string
	VersionCode string
	Identity    Identity
	Device      Device
	AppState    string
	IPAddress   string
	StartedAt   time.Time // as the device says; zero: now
}

// Clean bounds the texts of a start; *storage.InvalidError names the member.
func (s *Start) Clean(now time.Time) error {
	members := map[string]*string{"version": &s.Version, "version_code": &s.VersionCode, "email": &s.Identity.Email,
		"correlationId": &s.Identity.CorrelationID, "device": &s.Device.Model, "os": &s.Device.OS,
		"osVersion": &s.Device.OSVersion, "locale": &s.Device.Locale, "appState": &s.AppState}
	for i := range s.Identity.Attributes {
		members[fmt.Sprintf("attr%d", i+1)] = &s.Identity.Attributes[i]
	}
	s.StartedAt = ClampTime(s.StartedAt, now)
	return lines(members)
}

// Started is what became of a start.
type Started struct {
	ID       int64
	BuildID  int64 // 0: none that is known
	Repeated bool  // it was there before
	// NoBuild: the build that the start names is none of the app; nothing is stored.
	NoBuild bool
}

// startRow is a start as the statement reads it.
type startRow struct {
	N            int       `json:"n"`
	Organization int64     `json:"organization_id"`
	Project      int64     `json:"project_id"`
	Build        int64     `json:"build_id"`
	Client       uuid.UUID `json:"client_id"`
	Email        string    `json:"email"`
	Correlation  string    `json:"correlation_id"`
	Attr1        string    `json:"attr1"`
	Attr2        string    `json:"attr2"`
	Attr3        string    `json:"attr3"`
	Attr4        string    `json:"attr4"`
	Attr5        string    `json:"attr5"`
	Version      string    `json:"version"`
	VersionCode  string    `json:"version_code"`
	Model        string    `json:"device_model"`
	OS           string    `json:"os"`
	OSVersion    string    `json:"os_version"`
	Locale       string    `json:"locale"`
	AppState     string    `json:"app_state"`
	IPAddress    string    `json:"ip_address"`
	StartedAt    time.Time `json:"started_at"`
}

// insertStarts inserts rows in one order, as everybody does. Of a uuid that comes twice the
// first is stored.
const insertStarts = `
with incoming as materialized (
	select distinct on (project_id, client_id) * from jsonb_to_recordset($1::jsonb) as r(n int, organization_id bigint, project_id bigint,
		build_id bigint, client_id uuid, email text, correlation_id text, attr1 text, attr2 text, attr3 text, attr4 text, attr5 text,
		version text, version_code text, device_model text, os text, os_version text, locale text, app_state text, ip_address text,
		started_at timestamptz)
	order by project_id, client_id, n
)
insert into app_sessions (organization_id, project_id, build_id, user_id, client_id, email, correlation_id, attr1, attr2, attr3, attr4,
	attr5, version, version_code, device_model, os, os_version, locale, app_state, ip_address, started_at)
select i.organization_id, i.project_id, nullif(i.build_id, 0), (
		select u.id from users u join memberships m on m.user_id = u.id and m.organization_id = i.organization_id
		where i.email <> '' and lower(u.email) = lower(i.email)),
	i.client_id, i.email, i.correlation_id, i.attr1, i.attr2, i.attr3, i.attr4, i.attr5, i.version, i.version_code, i.device_model, i.os,
	i.os_version, i.locale, i.app_state, i.ip_address, i.started_at
from incoming i order by i.project_id, i.client_id
on conflict (project_id, client_id) do nothing
returning id, project_id, client_id, coalesce(build_id, 0) as build_id, coalesce(user_id, 0) as user_id`

const selectStarted = `
select s.id, s.project_id, s.client_id, coalesce(s.build_id, 0) as build_id
from unnest($1::bigint[], $2::uuid[]) as i(project_id, client_id)
cross join lateral (select * from app_sessions where project_id = i.project_id and client_id = i.client_id limit 1) s`

// countSessions counts, and makes the gates of the builds due, and those of builds that are
// compared with them.
const countSessions = `
with counted as (
	update builds b set sessions = b.sessions + w.n from unnest($1::bigint[], $2::bigint[]) as w(id, n) where b.id = w.id
	returning b.id
)
insert into gate_due (build_id, organization_id, due_at)
select g.build_id, g.organization_id, now() from counted c cross join lateral (
	select * from gates where build_id = c.id union all select * from gates where before_id = c.id) g
where g.sessions and g.watched_until > now()`

type sessionKey struct {
	project int64
	client  uuid.UUID
}

type startedRow struct {
	ID      int64     `db:"id"`
	Project int64     `db:"project_id"`
	Client  uuid.UUID `db:"client_id"`
	Build   int64     `db:"build_id"`
	User    int64     `db:"user_id"` // 0: nobody known, or not read
}

func (r startedRow) key() sessionKey { return sessionKey{r.Project, r.Client} }

// Start stores sessions that begin and counts them on their builds, in one
// transaction. The starts are clean. Called again after an unknown outcome it finds
// them Repeated.
func (s *Store) Start(ctx context.Context, in []Start) ([]Started, error) {
	var out []Started
	err := s.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		out, err = start(ctx, tx, in)
		return err
	})
	return out, err
}

func start(ctx context.Context, tx *storage.Tx, in []Start) ([]Started, error) {
	builds, err := lockBuilds(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	out := make([]Started, len(in))
	rows := make([]startRow, 0, len(in))
	for i := range in {
		if builds[i] == 0 && in[i].BuildID != 0 {
			out[i].NoBuild = true
			continue
		}
		rows = append(rows, in[i].row(i, builds[i]))
	}
	doc, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("start sessions: %w", err)
	}
	var made []startedRow
	if err := tx.SelectContext(ctx, &made, insertStarts, storage.WithoutNUL(string(doc))); err != nil {
		return nil, storage.Wrap(err, "start sessions")
	}
	fresh := map[sessionKey]startedRow{}
	counts := map[int64]int64{}
	for _, row := range made {
		fresh[row.key()] = row
		if row.Build != 0 {
			counts[row.Build]++
		}
	}
	if err := judgeStarts(ctx, tx, in, out, fresh); err != nil {
		return nil, err
	}
	if err := install.Record(ctx, tx, installs(in, out, fresh)); err != nil {
		return nil, err
	}
	return out, addSessions(ctx, tx, counts)
}

// installs are the builds that ran with somebody who is known, by the starts that are new.
func installs(in []Start, out []Started, fresh map[sessionKey]startedRow) (seen []install.Seen) {
	for i := range in {
		row, ok := fresh[sessionKey{in[i].ProjectID, in[i].ClientID}]
		if ok && !out[i].Repeated && !out[i].NoBuild && row.Build != 0 && row.User != 0 {
			seen = append(seen, install.Seen{OrganizationID: in[i].OrganizationID, BuildID: row.Build, UserID: row.User, Channel: install.Session,
				Device: in[i].Device.Name()})
		}
	}
	return seen
}

// lockBuilds finds the builds of starts, and locks them: a build that is being
// deleted gets no session that its removal does not see.
func lockBuilds(ctx context.Context, tx *storage.Tx, in []Start) ([]int64, error) {
	reported := make([]distribution.ReportedBuild, len(in))
	for i := range in {
		reported[i] = distribution.ReportedBuild{ProjectID: in[i].ProjectID, Version: in[i].Version, VersionCode: in[i].VersionCode}
		if in[i].BuildID != 0 {
			reported[i] = distribution.ReportedBuild{ProjectID: in[i].ProjectID, ID: fmt.Sprint(in[i].BuildID)}
		}
	}
	found, err := distribution.LockReportedBuilds(ctx, tx, reported)
	if err != nil {
		return nil, err
	}
	builds := make([]int64, len(in))
	for i := range in {
		builds[i] = found[reported[i]]
	}
	return builds, nil
}

func (s *Start) row(n int, build int64) startRow {
	a := s.Identity.Attributes
	return startRow{N: n, Organization: s.OrganizationID, Project: s.ProjectID, Build: build, Client: s.ClientID, Email: s.Identity.Email,
		Correlation: s.Identity.CorrelationID, Attr1: a[0], Attr2: a[1], Attr3: a[2], Attr4: a[3], Attr5: a[4], Version: s.Version,
		VersionCode: s.VersionCode, Model: s.Device.Model, OS: s.Device.OS, OSVersion: s.Device.OSVersion, Locale: s.Device.Locale,
		AppState: s.AppState, IPAddress: s.IPAddress, StartedAt: s.StartedAt}
}

// judgeStarts says of each start whether it is new; the first of two alike is.
func judgeStarts(ctx context.Context, tx *storage.Tx, in []Start, out []Started, fresh map[sessionKey]startedRow) error {
	var projects []int64
	var clients []uuid.UUID
	said := map[sessionKey]bool{}
	for i := range in {
		key := sessionKey{in[i].ProjectID, in[i].ClientID}
		if row, ok := fresh[key]; ok {
			out[i] = Started{ID: row.ID, BuildID: row.Build, Repeated: said[key]}
			said[key] = true
		} else if !out[i].NoBuild {
			projects, clients = append(projects, key.project), append(clients, key.client)
		}
	}
	if len(projects) == 0 {
		return nil
	}
	var rows []startedRow
	if err := tx.SelectContext(ctx, &rows, selectStarted, pq.Array(projects), storage.UUIDs(clients)); err != nil {
		return storage.Wrap(err, "sessions that were started before")
	}
	for i := range in {
		for _, row := range rows {
			if row.key() == (sessionKey{in[i].ProjectID, in[i].ClientID}) {
				out[i] = Started{ID: row.ID, BuildID: row.Build, Repeated: true}
			}
		}
	}
	return nil
}

// addSessions counts sessions of builds that the transaction has locked.
func addSessions(ctx context.Context, tx *storage.Tx, counts map[int64]int64) error {
	if len(counts) == 0 {
		return nil
	}
	var ids, numbers []int64
	for id, n := range counts {
		ids, numbers = append(ids, id), append(numbers, n)
	}
	_, err := tx.ExecContext(ctx, countSessions, pq.Array(ids), pq.Array(numbers))
	return storage.Wrap(err, "count sessions of builds")
}
