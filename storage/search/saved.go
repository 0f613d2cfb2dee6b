package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// CrashGroups is the area of the list of crash groups.
const CrashGroups = "crash-groups"

// Saved is a filter of a list that a person keeps; with a team, its members see it too.
type Saved struct {
	ID             int64     `db:"id"`
	OrganizationID int64     `db:"organization_id"`
	UserID         int64     `db:"user_id"`
	UserName       string    `db:"user_name"`
	TeamID         *int64    `db:"team_id"`
	TeamName       string    `db:"team_name"`
	Area           string    `db:"area"`
	Name           string    `db:"name"`
	Query          string    `db:"query"`
	CreatedAt      time.Time `db:"created_at"`
}

const (
	// maxSaved bounds the searches of a person: they are links above a list.
	maxSaved = 100
	maxName  = 200
)

// Validate names the member that breaks a rule. The query is checked by who knows the list.
func (s *Saved) Validate() (err error) {
	if s.Name, err = storage.Line("name", strings.TrimSpace(s.Name), maxName); err != nil {
		return err
	}
	switch {
	case s.Area != CrashGroups:
		return storage.Invalid("area", "must be %s", CrashGroups)
	case s.Name == "":
		return storage.Invalid("name", "must have 1 to %d characters", maxName)
	}
	return nil
}

// Save stores a search of the writer, with its audit row. storage.ErrConflict: there is one
// of the name, or there are too many.
func Save(ctx context.Context, tx *storage.Tx, w account.Writer, s *Saved) error {
	if err := s.Validate(); err != nil {
		return err
	}
	s.OrganizationID, s.UserID = w.OrganizationID, w.Actor.UserID
	if s.TeamID != nil {
		var there bool
		err := tx.GetContext(ctx, &there, `select exists (select from teams where id = $1 and organization_id = $2)`, *s.TeamID, w.OrganizationID)
		if err != nil {
			return storage.Wrap(err, "team of a saved search")
		}
		if !there || !w.May(*s.TeamID) {
			return storage.Invalid("team_id", "must be a team of yours")
		}
	}
	// The lock keeps two requests from passing the bound together.
	var members []int64
	err := tx.SelectContext(ctx, &members, `select id from memberships where organization_id = $1 and user_id = $2 for no key update`,
		w.OrganizationID, s.UserID)
	if err != nil {
		return storage.Wrap(err, "lock a member")
	}
	var n int
	err = tx.GetContext(ctx, &n, `select count(*) from saved_searches where organization_id = $1 and user_id = $2`, w.OrganizationID, s.UserID)
	if err != nil {
		return storage.Wrap(err, "count saved searches")
	}
	if n >= maxSaved {
		return fmt.Errorf("%d searches are saved: %w", n, storage.ErrConflict)
	}
	err = tx.GetContext(ctx, s, `insert into saved_searches (organization_id, user_id, team_id, area, name, query)
		values ($1, $2, $3, $4, $5, $6) returning id, created_at`, w.OrganizationID, s.UserID, s.TeamID, s.Area, s.Name, s.Query)
	if err != nil {
		return storage.Wrap(err, "save a search")
	}
	return account.Audit(ctx, tx, s.event(w, account.SearchSaved))
}

// event leaves the name out: it may have what a person is to be forgotten by, and the audit
// log cannot be changed.
func (s *Saved) event(w account.Writer, kind account.AuditType) account.Event {
	return account.Event{OrganizationID: w.OrganizationID, Type: kind, Actor: w.Actor, Subject: fmt.Sprintf("saved search %d", s.ID),
		Detail: map[string]any{"area": s.Area, "team_id": s.TeamID}}
}

const savedColumns = `s.id, s.organization_id, s.user_id, coalesce(nullif(u.name, ''), u.email, u.username, '') as user_name,
	s.team_id, coalesce(t.name, '') as team_name, s.area, s.name, s.query, s.created_at`

// visible are the searches that are one's own, or of a team that one is in; admins see
// those of all teams.
const visible = ` from saved_searches s join users u on u.id = s.user_id left join teams t on t.id = s.team_id
	where s.organization_id = $1 and (s.user_id = $2 or s.team_id = any($3) or $4 and s.team_id is not null)`

// SavedOf returns a page of the searches of an area that a person sees, by name, and how
// many there are.
func SavedOf(ctx context.Context, q storage.Querier, w account.Writer, area string, p storage.Page) (list []Saved, total int, err error) {
	args := []any{w.OrganizationID, w.Actor.UserID, pq.Array(w.Teams), w.AllTeams, area}
	const of = visible + ` and ($5 = '' or s.area = $5)`
	if err := q.GetContext(ctx, &total, `select count(*)`+of, args...); err != nil {
		return nil, 0, storage.Wrap(err, "count saved searches")
	}
	list = []Saved{}
	err = q.SelectContext(ctx, &list, `select `+savedColumns+of+` order by s.name, s.id limit $6 offset $7`,
		slices.Concat(args, []any{p.Limit, p.Offset})...)
	return list, total, storage.Wrap(err, "list saved searches")
}

// DeleteSaved deletes a search, with its audit row: one's own, or of a team by who may
// change what is the team's. storage.ErrNotFound: it is not seen.
func DeleteSaved(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	var s Saved
	err := tx.GetContext(ctx, &s, `select `+savedColumns+visible+` and s.id = $5 for update of s`,
		w.OrganizationID, w.Actor.UserID, pq.Array(w.Teams), w.AllTeams, id)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("saved search %d", id))
	}
	if _, err := tx.ExecContext(ctx, `delete from saved_searches where organization_id = $1 and id = $2`, w.OrganizationID, id); err != nil {
		return storage.Wrap(err, "delete a saved search")
	}
	return account.Audit(ctx, tx, s.event(w, account.SavedSearchDeleted))
}
