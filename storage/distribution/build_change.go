package distribution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// BuildChange changes the members that are not nil.
type BuildChange struct {
	ReleaseNotes    *string
	Tags            *[]string
	Metadata        map[string]string // merged; a "" value removes the key
	LandingPageMode *string           // of the project
	Slug            *string           // of the project
	Groups          grant.Groups      // grants of the build
	AllTesters      *bool             // goes before what Groups says of all
	AutoUpdate      *bool
	Keep            *bool  // from retention
	State           *State // enabled or disabled
	Page            landing.Change
}

// apply changes the build's own members.
func (c *BuildChange) apply(b *Build, now time.Time) error {
	var err error
	if c.ReleaseNotes != nil {
		if b.ReleaseNotes, err = text.Prose("release_notes", *c.ReleaseNotes, text.MaxProse); err != nil {
			return err
		}
	}
	if c.Tags != nil {
		if b.Tags, err = text.Tags(*c.Tags); err != nil {
			return err
		}
	}
	if b.Metadata, err = text.Metadata(b.Metadata, c.Metadata); err != nil {
		return err
	}
	change.Set(&b.AutoUpdate, c.AutoUpdate)
	change.Set(&b.Keep, c.Keep)
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

func (c *BuildChange) differences(from, to *Build) change.Diff {
	var d change.Diff
	d.Note("release_notes", from.ReleaseNotes, to.ReleaseNotes)
	d.Note("tags", from.Tags, to.Tags)
	d.Note("metadata", from.Metadata, to.Metadata)
	d.Note("auto_update", from.AutoUpdate, to.AutoUpdate)
	d.Note("keep", from.Keep, to.Keep)
	d.Note("state", from.State, to.State)
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
	change.Set(&p.LandingPageMode, c.LandingPageMode)
	change.Set(&p.Slug, c.Slug)
	if err := p.save(ctx, tx, w.Actor, &oldPage); err != nil {
		return nil, nil, err
	}
	b := *before
	if err := c.apply(&b, time.Now()); err != nil {
		return nil, nil, err
	}
	if d := c.differences(before, &b); d.Any() {
		meta, err := storage.Document(&b.Metadata)
		if err != nil {
			return nil, nil, err
		}
		_, err = tx.ExecContext(ctx, updateBuild, id, b.ReleaseNotes, pq.Array(b.Tags), meta, b.AutoUpdate, b.State, b.StateReason, b.Keep)
		if err != nil {
			return nil, nil, storage.Wrap(err, fmt.Sprintf("change build %d", id))
		}
		if err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildUpdated,
			Actor: w.Actor, Subject: BuildSubject(id, b.AppName, b.Version), Detail: d}); err != nil {
			return nil, nil, err
		}
	}
	if err := buildPage(&b).Change(ctx, tx, w.Actor, before.Limits, c.Page); err != nil {
		return nil, nil, err
	}
	bad, err := grant.ToBuild(w.OrganizationID, id).Replace(ctx, tx, w.Actor, c.Groups, before.AllTesters)
	if err != nil {
		return nil, nil, err
	}
	if err := grant.ToBuild(w.OrganizationID, id).Open(ctx, tx, w.Actor, c.AllTesters); err != nil {
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
	list, err := ReadBuilds(ctx, tx, buildByID+` for no key update of b`, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("build %d: %w", id, storage.ErrNotFound)
	}
	return &list[0], p, nil
}

// LockBuild locks a build's project and then the build, which the writer may change; ErrNotFound,
// then ErrNoAccess.
func LockBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64) (*Build, error) {
	b, _, err := lockBuild(ctx, tx, w, projectID, id)
	return b, err
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
select ` + BuildColumns + `
from builds b` + BuildTables + `
where b.organization_id = $1 and b.project_id = $2 and b.id = any($3) and b.deleted_at is null
order by b.id for no key update of b`

// deleteBuilds deletes builds of an app whose lock the caller has, those that are still
// there, and returns their ids. The audit entries have the reason, unless it is "".
func deleteBuilds(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, ids []int64, reason string) ([]int64, error) {
	list, err := ReadBuilds(ctx, tx, buildsOfApp, w.OrganizationID, projectID, pq.Array(ids))
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
			Subject: BuildSubject(b.ID, b.AppName, b.Version), Detail: detail}
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
