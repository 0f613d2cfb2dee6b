package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/pattern"
)

// A crash project may say who owns which code: a new group is assigned to the owner of the frame
// nearest the error that a pattern matches. What people assign later stays, and groups that are
// there are left alone.

const (
	// MaxOwners bounds the patterns of a crash project, maxOwnerPattern the characters of one:
	// each new group is matched against all.
	MaxOwners       = 200
	maxOwnerPattern = 200
)

// Owner is a pattern of paths or modules with whom new groups are assigned to.
type Owner struct {
	Pattern string  `db:"pattern"`
	UserID  int64   `db:"user_id"`
	Email   *string `db:"email"`
	Name    *string `db:"name"`
}

// Validate refuses a pattern that matches everything or costs too much.
func (o *Owner) Validate(at int) error {
	field := fmt.Sprintf("owners[%d].pattern", at)
	line, err := storage.Line(field, o.Pattern, maxOwnerPattern)
	switch {
	case err != nil:
		return err
	case strings.Trim(line, "*/ ") == "":
		return storage.Invalid(field, "must name a path or a module")
	case strings.Count(line, "*") > pattern.MaxWildcards:
		return storage.Invalid(field, "must have at most %d wildcards", pattern.MaxWildcards)
	}
	o.Pattern = line
	return nil
}

// Matches reports whether the pattern matches a path or a module, as pattern.MatchesPlace has it.
func (o *Owner) Matches(place string) bool { return pattern.MatchesPlace(o.Pattern, place) }

// Owners lists the owners of a crash project, in their order.
func Owners(ctx context.Context, q storage.Querier, organization, project int64) ([]Owner, error) {
	list := []Owner{}
	err := q.SelectContext(ctx, &list, `select o.pattern, o.user_id, u.email, u.name
		from crash_projects p join crash_owners o on o.crash_project_id = p.id join users u on u.id = o.user_id
		where p.organization_id = $1 and p.id = $2 order by o.position`, organization, project)
	return list, storage.Wrap(err, "owners of a crash project")
}

// SetOwners replaces the owners of a crash project. *storage.InvalidError names the pattern or
// person that breaks a rule.
func SetOwners(ctx context.Context, tx *storage.Tx, w account.Writer, project int64, owners []Owner) error {
	if len(owners) > MaxOwners {
		return storage.Invalid("owners", "must be at most %d", MaxOwners)
	}
	var patterns []string
	var users []int64
	known := map[int64]bool{}
	for i := range owners {
		o := &owners[i]
		if err := o.Validate(i); err != nil {
			return err
		}
		if !known[o.UserID] {
			err := Assignable(ctx, tx, w.OrganizationID, o.UserID)
			var invalid *storage.InvalidError
			if err != nil && !errors.As(err, &invalid) {
				return err
			}
			if err != nil || o.UserID == 0 {
				return storage.Invalid(fmt.Sprintf("owners[%d].assignee", i), "must be a person of the organization who may read crashes")
			}
			known[o.UserID] = true
		}
		patterns, users = append(patterns, o.Pattern), append(users, o.UserID)
	}
	var name string
	err := tx.GetContext(ctx, &name, `select name from crash_projects where organization_id = $1 and id = $2 for no key update`,
		w.OrganizationID, project)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("crash project %d", project))
	}
	if _, err := tx.ExecContext(ctx, `delete from crash_owners where crash_project_id = $1`, project); err != nil {
		return storage.Wrap(err, "replace the owners of a crash project")
	}
	_, err = tx.ExecContext(ctx, `insert into crash_owners (crash_project_id, position, pattern, user_id)
		select $1, n.position, n.pattern, n.user_id from unnest($2::text[], $3::bigint[]) with ordinality as n(pattern, user_id, position)`,
		project, pq.Array(patterns), pq.Array(users))
	if err != nil {
		return storage.Wrap(err, "write the owners of a crash project")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashProjectUpdated, Actor: w.Actor,
		Subject: name, Detail: map[string]any{"id": project, "owners": len(owners)}})
}

// ownersOf are the owners of crash projects who may be assigned to now.
const ownersOf = `
select o.crash_project_id, o.pattern, o.user_id from crash_owners o join users u on u.id = o.user_id and u.kind = 'person'
join memberships m on m.user_id = o.user_id and m.organization_id = $1 and m.blocked_at is null and m.role <> 'tester'
where o.crash_project_id = any($2) order by o.crash_project_id, o.position`

// owned is a group that may get an owner, with the paths and modules of its stack.
type owned struct {
	project, group int64
	places         []string
}

// assignOwned leaves alone what somebody assigned, or took the assignee from. Of the groups that
// others have made meanwhile none is locked, unless the groups are known to be locked.
const assignOwned = `
update crash_groups g set assignee_id = n.user_id from unnest($1::bigint[], $2::bigint[]) as n(id, user_id)
where g.id = n.id and g.assignee_id is null and ($3 or g.created_at = now())
	and not exists (select from crash_group_changes h where h.group_id = g.id and h.detail ? 'assignee')
returning g.id`

// AssignFree assigns groups to users, the groups that nobody decided about, and returns these.
func AssignFree(ctx context.Context, tx *storage.Tx, groups, users []int64, locked bool) ([]int64, error) {
	var assigned []int64
	err := tx.SelectContext(ctx, &assigned, assignOwned, pq.Array(groups), pq.Array(users), locked)
	return assigned, err
}

// assignOwners assigns groups to the owners of their code, and writes their history. They were
// made by this transaction, or, with locked, are locked by it.
func assignOwners(ctx context.Context, tx *storage.Tx, organization int64, groups []owned, locked bool) error {
	var projects []int64
	for _, g := range groups {
		if len(g.places) > 0 {
			projects = append(projects, g.project)
		}
	}
	if len(projects) == 0 {
		return nil
	}
	var rows []struct {
		ProjectID int64 `db:"crash_project_id"`
		Owner
	}
	err := tx.SelectContext(ctx, &rows, ownersOf, organization, pq.Array(projects))
	if err != nil || len(rows) == 0 {
		return storage.Wrap(err, "owners of crash projects")
	}
	owners := map[int64][]Owner{}
	for _, r := range rows {
		owners[r.ProjectID] = append(owners[r.ProjectID], r.Owner)
	}
	var ids, users []int64
	found := map[int64]*Owner{}
	for _, g := range groups {
		if owner := ownerOf(owners[g.project], g.places); owner != nil {
			ids, users = append(ids, g.group), append(users, owner.UserID)
			found[g.group] = owner
		}
	}
	if len(ids) == 0 {
		return nil
	}
	assigned, err := AssignFree(ctx, tx, ids, users, locked)
	if err != nil {
		return storage.Wrap(err, "assign crash groups to owners")
	}
	var entries []HistoryEntry
	for _, id := range assigned {
		entries = append(entries, HistoryEntry{Group: id, Detail: map[string]any{"assignee": found[id].UserID, "owner_of": found[id].Pattern}})
	}
	if len(entries) == 0 {
		return nil
	}
	return RecordHistory(ctx, tx, account.Actor{Name: account.ActorOwners}, uuid.Nil, entries...)
}

// ownerOf is the owner of the place nearest the error that a pattern matches; nil: nobody.
func ownerOf(owners []Owner, places []string) *Owner {
	for _, place := range places[:min(len(places), pattern.MaxPlaces)] {
		for i := range owners {
			if owners[i].Matches(place) {
				return &owners[i]
			}
		}
	}
	return nil
}
