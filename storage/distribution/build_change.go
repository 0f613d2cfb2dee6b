package distribution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// BuildChange changes the members that are not nil.
type BuildChange struct {
	ReleaseNotes    *string
	Tags            *[]string
	Metadata        map[string]string // merged; a "" value removes the key
	LandingPageMode *string           // of the project
	Slug            *string           // of the project
	Groups          Groups            // grants of the build
	AllTesters      *bool             // goes before what Groups says of all
	AutoUpdate      *bool
	Keep            *bool  // from retention
	State           *State // enabled or disabled
	Page            PageChange
}

// apply changes the build's own members.
func (c *BuildChange) apply(b *Build, now time.Time) error {
	var err error
	if c.ReleaseNotes != nil {
		if b.ReleaseNotes, err = prose("release_notes", *c.ReleaseNotes, maxProse); err != nil {
			return err
		}
	}
	if c.Tags != nil {
		if b.Tags, err = tags(*c.Tags); err != nil {
			return err
		}
	}
	if b.Metadata, err = metadata(b.Metadata, c.Metadata); err != nil {
		return err
	}
	set(&b.AutoUpdate, c.AutoUpdate)
	set(&b.Keep, c.Keep)
	if c.State == nil || *c.State == b.State {
		return nil
	}
	switch *c.State {
	case Disabled:
	case Enabled:
		if v := b.Signature(); b.State == Invalid || v.Tampered {
			return storage.Invalid("state", "cannot be enabled: %s", cmp.Or(tamperedText(v), b.Distributable()))
		}
		if b.ExpiresAt != nil && !b.ExpiresAt.After(now) {
			return storage.Invalid("state", "cannot be enabled: %s", expiredReason(*b.ExpiresAt))
		}
	default:
		return storage.Invalid("state", "must be enabled or disabled")
	}
	b.State, b.StateReason = *c.State, ""
	return nil
}

func (c *BuildChange) differences(from, to *Build) changed {
	var d changed
	d.note("release_notes", from.ReleaseNotes, to.ReleaseNotes)
	d.note("tags", from.Tags, to.Tags)
	d.note("metadata", from.Metadata, to.Metadata)
	d.note("auto_update", from.AutoUpdate, to.AutoUpdate)
	d.note("keep", from.Keep, to.Keep)
	d.note("state", from.State, to.State)
	return d
}

const updateBuild = `
update builds set release_notes = $2, tags = $3, metadata = $4, auto_update = $5, state = $6, state_reason = $7, keep = $8,
	updated_at = now()
where id = $1`

// UpdateBuild changes a build. The second result are the names that no group has.
func UpdateBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64, c BuildChange) (*Build, []string, error) {
	now, err := BuildByID(ctx, tx, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, nil, err
	}
	if !w.May(now.TeamID) {
		return nil, nil, ErrNoAccess
	}
	if err := checkPage(ctx, tx, w.OrganizationID, c.LandingPageMode, c.Slug); err != nil {
		return nil, nil, err
	}
	before, p, err := lockBuild(ctx, tx, w, now.ProjectID, id)
	if err != nil {
		return nil, nil, err
	}
	oldPage := *p
	set(&p.LandingPageMode, c.LandingPageMode)
	set(&p.Slug, c.Slug)
	if err := p.save(ctx, tx, w.Actor, &oldPage); err != nil {
		return nil, nil, err
	}
	b := *before
	if err := c.apply(&b, time.Now()); err != nil {
		return nil, nil, err
	}
	if d := c.differences(before, &b); d.any() {
		meta, err := document(&b.Metadata)
		if err != nil {
			return nil, nil, err
		}
		_, err = tx.ExecContext(ctx, updateBuild, id, b.ReleaseNotes, pq.Array(b.Tags), meta, b.AutoUpdate, b.State, b.StateReason, b.Keep)
		if err != nil {
			return nil, nil, storage.Wrap(err, fmt.Sprintf("change build %d", id))
		}
		if err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildUpdated,
			Actor: w.Actor, Subject: buildSubject(id, b.AppName, b.Version), Detail: d}); err != nil {
			return nil, nil, err
		}
	}
	if err := buildPage(&b).changePage(ctx, tx, w.Actor, before.PageLimits, c.Page); err != nil {
		return nil, nil, err
	}
	bad, err := buildGrantee(w.OrganizationID, id).regrant(ctx, tx, w.Actor, c.Groups, before.AllTesters)
	if err != nil {
		return nil, nil, err
	}
	if err := buildGrantee(w.OrganizationID, id).open(ctx, tx, w.Actor, c.AllTesters); err != nil {
		return nil, nil, err
	}
	after, err := BuildByID(ctx, tx, w.OrganizationID, p.ID, id)
	return after, bad, err
}

// lockBuild locks a build's project and then the build.
func lockBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64) (*Build, *projectRow, error) {
	p, err := lockProject(ctx, tx, w, projectID)
	if err != nil {
		return nil, nil, err
	}
	list, err := readBuilds(ctx, tx, buildByID+` for no key update of b`, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("build %d: %w", id, storage.ErrNotFound)
	}
	return &list[0], p, nil
}

// DeleteBuild marks a build deleted. What belongs to it is removed by the task
// build:delete, which the caller inserts.
func DeleteBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64) error {
	now, err := BuildByID(ctx, tx, w.OrganizationID, projectID, id)
	if err != nil {
		return err
	}
	if _, err := lockProject(ctx, tx, w, now.ProjectID); err != nil {
		return err
	}
	gone, err := deleteBuilds(ctx, tx, w, now.ProjectID, []int64{id}, "")
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return fmt.Errorf("build %d: %w", id, storage.ErrNotFound)
	}
	return nil
}

const buildsOfApp = `
select ` + buildColumns + `
from builds b` + buildTables + `
where b.organization_id = $1 and b.project_id = $2 and b.id = any($3) and b.deleted_at is null
order by b.id for no key update of b`

// deleteBuilds deletes builds of an app whose lock the caller has, those that are still
// there, and returns their ids. The audit entries have the reason, unless it is "".
func deleteBuilds(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, ids []int64, reason string) ([]int64, error) {
	list, err := readBuilds(ctx, tx, buildsOfApp, w.OrganizationID, projectID, pq.Array(ids))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	gone, events := make([]int64, len(list)), make([]account.Event, len(list))
	for i := range list {
		b := &list[i]
		detail := map[string]any{"id": b.ID, "project_id": projectID, "file_name": b.FileName, "sha256": b.File.SHA256}
		if reason != "" {
			detail["reason"] = reason
		}
		gone[i] = b.ID
		events[i] = account.Event{OrganizationID: w.OrganizationID, Type: account.BuildDeleted, Actor: w.Actor,
			Subject: buildSubject(b.ID, b.AppName, b.Version), Detail: detail}
	}
	if _, err := tx.ExecContext(ctx, `update builds set deleted_at = now(), updated_at = now() where id = any($1)`,
		pq.Array(gone)); err != nil {
		return nil, storage.Wrap(err, "delete builds")
	}
	if err := recount(ctx, tx, projectID, -len(gone)); err != nil {
		return nil, err
	}
	return gone, account.Audit(ctx, tx, events...)
}
