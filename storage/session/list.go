package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// sessionRow is a session as the database returns it.
type sessionRow struct {
	ID             int64      `db:"id"`
	OrganizationID int64      `db:"organization_id"`
	ProjectID      int64      `db:"project_id"`
	BuildID        int64      `db:"build_id"`
	UserID         int64      `db:"user_id"`
	ClientID       uuid.UUID  `db:"client_id"`
	Email          string     `db:"email"`
	CorrelationID  string     `db:"correlation_id"`
	Attr1          string     `db:"attr1"`
	Attr2          string     `db:"attr2"`
	Attr3          string     `db:"attr3"`
	Attr4          string     `db:"attr4"`
	Attr5          string     `db:"attr5"`
	Version        string     `db:"version"`
	VersionCode    string     `db:"version_code"`
	Device                    // its columns
	AppState       string     `db:"app_state"`
	IPAddress      string     `db:"ip_address"`
	StartedAt      time.Time  `db:"started_at"`
	ReceivedAt     time.Time  `db:"received_at"`
	LastAt         time.Time  `db:"last_at"`
	EndedAt        *time.Time `db:"ended_at"`
	EndedBy        string     `db:"ended_by"`
	DurationMS     int64      `db:"duration"`
	Crashed        bool       `db:"crashed"`
	Events         int64      `db:"events"`
	Dropped        int64      `db:"dropped"`
	EventBytes     int64      `db:"event_bytes"`
	Trimmed        bool       `db:"trimmed"`
}

func (r *sessionRow) session() Session {
	return Session{ID: r.ID, OrganizationID: r.OrganizationID, ProjectID: r.ProjectID, BuildID: r.BuildID, UserID: r.UserID,
		ClientID: r.ClientID, Identity: Identity{Email: r.Email, CorrelationID: r.CorrelationID,
			Attributes: [Attributes]string{r.Attr1, r.Attr2, r.Attr3, r.Attr4, r.Attr5}},
		Version: r.Version, VersionCode: r.VersionCode, Device: r.Device, AppState: r.AppState, IPAddress: r.IPAddress,
		StartedAt: r.StartedAt, ReceivedAt: r.ReceivedAt, LastAt: r.LastAt, EndedAt: r.EndedAt, EndedBy: r.EndedBy,
		Duration: time.Duration(r.DurationMS) * time.Millisecond, Crashed: r.Crashed, Events: r.Events, Dropped: r.Dropped,
		EventBytes: r.EventBytes, Trimmed: r.Trimmed}
}

// sessionColumns have the length up to now of a session that goes on.
const sessionColumns = `id, organization_id, project_id, coalesce(build_id, 0) as build_id, coalesce(user_id, 0) as user_id,
	client_id, email,
	correlation_id, attr1, attr2, attr3, attr4, attr5, version, version_code, device_model, os, os_version, locale, app_state, ip_address,
	started_at, received_at, last_at, ended_at, ended_by, coalesce(duration_ms, ` + silentDuration + `) as duration, crashed, events,
	dropped, event_bytes, trimmed`

// SessionFilter selects sessions of a project, or of one of its builds. One of the
// two is required.
type SessionFilter struct {
	ProjectID int64
	BuildID   int64
	// Search is a part of the tester's address, the correlation id or the device, in
	// any case. It looks at the newest 10,000 sessions.
	Search  string
	Crashed *bool
}

// Counted is the number of rows that a list has, up to a bound.
type Counted struct {
	Total int
	Exact bool // false: there are more than Total
}

// countMost bounds counting: some milliseconds.
const countMost = 10_000

// selected returns the condition of the filter and what it takes. Builds and projects
// are named by a range of their index, which is then read from its newest end.
func (f SessionFilter) selected(organizationID int64) (string, []any) {
	column, id := "project_id", f.ProjectID
	if f.BuildID != 0 {
		column, id = "build_id", f.BuildID
	}
	return fmt.Sprintf(`(%[1]s, id) >= ($1::bigint, 0) and (%[1]s, id) <= ($1, 9223372036854775807) and organization_id = $2`, column),
		[]any{id, organizationID}
}

func (f SessionFilter) order() string {
	if f.BuildID != 0 {
		return ` order by build_id desc, id desc`
	}
	return ` order by project_id desc, id desc`
}

// narrowed is the condition beyond the index.
const narrowed = `($3::text = '' or position($3 in lower(email)) > 0 or position($3 in lower(correlation_id)) > 0
	or position($3 in lower(device_model || ' ' || os || ' ' || os_version)) > 0) and ($4::boolean is null or crashed = $4)`

// Sessions lists sessions, newest first.
func Sessions(ctx context.Context, q storage.Querier, organizationID int64, f SessionFilter, p storage.Page) ([]Session, Counted, error) {
	where, args := f.selected(organizationID)
	source := `app_sessions where ` + where
	if f.Search != "" || f.Crashed != nil {
		source = `(select * from app_sessions where ` + where + f.order() + fmt.Sprintf(` limit %d`, countMost) + `) s where ` + narrowed
		args = append(args, strings.ToLower(f.Search), f.Crashed)
	}
	var total int
	err := q.GetContext(ctx, &total, fmt.Sprintf(`select count(*) from (select from %s limit %d) s`, source, countMost+1), args...)
	if err != nil {
		return nil, Counted{}, storage.Wrap(err, "count sessions")
	}
	n := len(args)
	query := fmt.Sprintf(`select %s from %s%s limit $%d offset $%d`, sessionColumns, source, f.order(), n+1, n+2)
	var rows []sessionRow
	if err := q.SelectContext(ctx, &rows, query, append(args, p.RowLimit(), p.RowOffset())...); err != nil {
		return nil, Counted{}, storage.Wrap(err, "list sessions")
	}
	list := make([]Session, 0, len(rows))
	for i := range rows {
		list = append(list, rows[i].session())
	}
	return list, Counted{Total: min(total, countMost), Exact: total <= countMost}, nil
}

// SessionByID reads a session of the organization.
func SessionByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Session, error) {
	var row sessionRow
	err := q.GetContext(ctx, &row, `select `+sessionColumns+` from app_sessions where organization_id = $1 and id = $2`, organizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("session %d", id))
	}
	s := row.session()
	return &s, nil
}

// SessionByClient finds a session of an app by the uuid that its SDK chose.
func SessionByClient(ctx context.Context, q storage.Querier, projectID int64, client uuid.UUID) (*Session, error) {
	var row sessionRow
	err := q.GetContext(ctx, &row, `select `+sessionColumns+` from app_sessions where project_id = $1 and client_id = $2`, projectID, client)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("session %s", client))
	}
	s := row.session()
	return &s, nil
}

// Events reads the stored events of a session, in the order of their batches.
func (s *Store) Events(ctx context.Context, q storage.Querier, sessionID int64) ([]Event, error) {
	var bodies [][]byte
	err := q.SelectContext(ctx, &bodies, `select body from app_session_batches where session_id = $1 and events > 0 order by seq`, sessionID)
	if err != nil {
		return nil, storage.Wrap(err, "read events")
	}
	all := []Event{}
	for _, body := range bodies {
		doc, err := s.dec.DecodeAll(body, nil)
		if err != nil {
			return nil, fmt.Errorf("inflate events of session %d: %w", sessionID, err)
		}
		var events []Event
		if err := json.Unmarshal(doc, &events); err != nil {
			return nil, fmt.Errorf("events of session %d: %w", sessionID, err)
		}
		all = append(all, events...)
	}
	return all, nil
}

// DeviceModel is a kind of device that sessions ran on.
type DeviceModel struct {
	Model           string    `db:"device_model" json:"model"`
	OS              string    `db:"os" json:"os"`
	OSVersion       string    `db:"os_version" json:"os_version"`
	Sessions        int64     `db:"sessions" json:"sessions"`
	CrashedSessions int64     `db:"crashed_sessions" json:"crashed_sessions"`
	LastSeen        time.Time `db:"last_seen" json:"last_seen"`
}

// deviceDepth bounds the sessions that the list of devices looks at: some 50 ms.
const deviceDepth = 50_000

// Devices lists the kinds of devices of a project's or build's newest 50,000 sessions, the
// most frequent first, with the number of all kinds.
func Devices(ctx context.Context, q storage.Querier, organizationID int64, f SessionFilter, p storage.Page) ([]DeviceModel, int, error) {
	where, args := f.selected(organizationID)
	var rows []struct {
		DeviceModel
		Kinds int  `db:"kinds"`
		Past  bool `db:"past"` // no kind, only their number: the page lies behind the last
	}
	err := q.SelectContext(ctx, &rows, fmt.Sprintf(`
		with kinds as materialized (
			select device_model, os, os_version, count(*) as sessions, count(*) filter (where crashed) as crashed_sessions,
				max(received_at) as last_seen
			from (select device_model, os, os_version, crashed, received_at from app_sessions where %s%s limit %d) s
			group by device_model, os, os_version
		), page as (
			select * from kinds order by sessions desc, device_model, os, os_version limit $3 offset $4
		)
		select coalesce(p.device_model, '') as device_model, coalesce(p.os, '') as os, coalesce(p.os_version, '') as os_version,
			coalesce(p.sessions, 0) as sessions, coalesce(p.crashed_sessions, 0) as crashed_sessions,
			coalesce(p.last_seen, 'epoch') as last_seen, n.kinds, p.sessions is null as past from (select count(*) as kinds from kinds) n
			left join page p on true
		where p.device_model is not null or n.kinds > 0 order by p.sessions desc nulls last, p.device_model, p.os, p.os_version`,
		where, f.order(), deviceDepth), append(args, p.RowLimit(), p.RowOffset())...)
	if err != nil {
		return nil, 0, storage.Wrap(err, "list devices of sessions")
	}
	list := make([]DeviceModel, 0, len(rows))
	kinds := 0
	for i := range rows {
		if kinds = rows[i].Kinds; !rows[i].Past {
			list = append(list, rows[i].DeviceModel)
		}
	}
	return list, kinds, nil
}
