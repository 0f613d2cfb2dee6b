package webhook

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const (
	maxName = 255
	maxURL  = 2048
	// maxWebhooks bounds those of an organization: each event looks at all of them.
	maxWebhooks = 200
	maxProjects = 1000
)

// Change changes the members that are not nil.
type Change struct {
	Name       *string
	URL        *string
	Status     *Status
	Actions    *[]string
	ProjectIDs *[]int64
}

// Fields are the names of the members in errors: versions 1 and 3 call them differently.
type Fields struct{ Name, URL, Status, Actions, ProjectIDs string }

// V3 are the names of version 3.
func V3() Fields { return Fields{"name", "url", "status", "actions", "project_ids"} }

// Legacy are the names of version 1.
func Legacy() Fields {
	return Fields{"webhook-name", "webhook-url", "webhook-status", "actions", "webhook-project-ids"}
}

// apply changes the webhook's members, and checks them.
func (c *Change) apply(ctx context.Context, tx *storage.Tx, w *Webhook, f Fields) (err error) {
	if c.Name != nil {
		if w.Name, err = storage.Name(f.Name, *c.Name, maxName); err != nil {
			return err
		}
	}
	if c.URL != nil {
		if err := checkURL(f.URL, *c.URL); err != nil {
			return err
		}
		w.URL = *c.URL
	}
	if c.Status != nil {
		if *c.Status != Active && *c.Status != Suspended {
			return storage.Invalid(f.Status, "must be %s or %s", Active, Suspended)
		}
		w.Status = *c.Status
	}
	if c.Actions != nil {
		w.Actions = pq.StringArray{}
		for _, name := range *c.Actions {
			if _, ok := ParseAction(name); !ok {
				return unknownAction(name)
			}
			if !slices.Contains(w.Actions, name) {
				w.Actions = append(w.Actions, name)
			}
		}
	}
	if c.ProjectIDs != nil {
		return setProjects(ctx, tx, w, f, *c.ProjectIDs)
	}
	return nil
}

// checkURL checks the form. Where the address leads is the guard's matter.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return storage.Invalid(field, "is required")
	case len(text) > maxURL || err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return storage.Invalid(field, "must be an http or https URL of at most %d characters", maxURL)
	case u.User != nil:
		return storage.Invalid(field, "must not hold a user name or a password")
	}
	_, err = storage.Line(field, text, maxURL)
	return err
}

const projectsOf = `select id from projects where organization_id = $1 and id = any($2) and deleted_at is null`

// setProjects limits the webhook to apps, all of which must be the organization's.
func setProjects(ctx context.Context, tx *storage.Tx, w *Webhook, f Fields, ids []int64) error {
	if len(ids) > maxProjects {
		return storage.Invalid(f.ProjectIDs, "has at most %d elements", maxProjects)
	}
	var found []int64
	if err := tx.SelectContext(ctx, &found, projectsOf, w.OrganizationID, pq.Array(ids)); err != nil {
		return storage.Wrap(err, "apps of a webhook")
	}
	list := pq.Int64Array{}
	for _, id := range ids {
		if !slices.Contains(found, id) && !slices.Contains(w.ProjectIDs, id) {
			return storage.Invalid(f.ProjectIDs, "there is no app %d", id)
		}
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	w.ProjectIDs = list
	return nil
}

// CheckManager refuses who may not change the webhook with ErrNoAccess: its deliveries
// hold addresses of testers.
func CheckManager(ctx context.Context, q storage.Querier, w account.Writer, row *Webhook) error {
	return permit(ctx, q, w, row.ProjectIDs)
}

const foreignProjects = `
select count(*) from unnest($1::bigint[]) as id
where not exists (select from projects p where p.id = id and p.team_id = any($2))`

// permit refuses an admin of teams whose teams do not have all apps of the webhook.
func permit(ctx context.Context, q storage.Querier, w account.Writer, projects []int64) error {
	if w.AllTeams {
		return nil
	}
	if len(projects) == 0 {
		return ErrNoAccess
	}
	var others int
	if err := q.GetContext(ctx, &others, foreignProjects, pq.Array(projects), pq.Array(w.Teams)); err != nil {
		return storage.Wrap(err, "teams of the apps of a webhook")
	}
	if others > 0 {
		return ErrNoAccess
	}
	return nil
}

const insertWebhook = `
insert into webhooks (organization_id, name, url, actions, project_ids, status, suspended_at, secret)
select $1, $2, $3, $4, $5, $6, case when $6 = 'suspended' then now() end, $7
where (select count(*) from webhooks where organization_id = $1) < $8
returning ` + columns

// Create stores a webhook with its sealed secret. Name and URL are required; without a
// status it is suspended.
func Create(ctx context.Context, tx *storage.Tx, w account.Writer, f Fields, c Change, sealed []byte) (*Webhook, error) {
	if c.Name == nil {
		return nil, storage.Invalid(f.Name, "is required")
	}
	if c.URL == nil {
		return nil, storage.Invalid(f.URL, "is required")
	}
	n := Webhook{OrganizationID: w.OrganizationID, Status: Suspended, Actions: pq.StringArray{}, ProjectIDs: pq.Int64Array{}}
	if err := c.apply(ctx, tx, &n, f); err != nil {
		return nil, err
	}
	if err := permit(ctx, tx, w, n.ProjectIDs); err != nil {
		return nil, err
	}
	var rows []Webhook
	err := tx.SelectContext(ctx, &rows, insertWebhook, w.OrganizationID, n.Name, n.URL, n.Actions, n.ProjectIDs, n.Status, sealed, maxWebhooks)
	if err != nil {
		return nil, storage.Wrap(err, "create webhook")
	}
	if len(rows) == 0 {
		return nil, storage.Invalid(f.Name, "an organization has at most %d webhooks", maxWebhooks)
	}
	made := &rows[0]
	return made, audit(ctx, tx, w.Actor, made, account.WebhookCreated, map[string]any{"name": made.Name, "url": Redacted(made.URL),
		"actions": made.Actions, "project_ids": made.ProjectIDs, "status": made.Status})
}

func audit(ctx context.Context, tx *storage.Tx, actor account.Actor, w *Webhook, of account.AuditType, detail map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: of, Actor: actor,
		Subject: fmt.Sprintf("webhook %d", w.ID), Detail: detail})
}

// Redacted is an address without its path and query: chat services have the secret there.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() + strings.Repeat("/...", min(1, len(strings.Trim(u.Path, "/"))))
}

// updateWebhook lets a webhook that people changed begin anew: what failed before says nothing
// about the address that it has now.
const updateWebhook = `
update webhooks set name = $2, url = $3, actions = $4, project_ids = $5, status = $6,
	suspended_at = case when $6 = 'suspended' then coalesce(suspended_at, now()) end,
	suspended_reason = case when $6 = 'suspended' then suspended_reason else '' end,
	failures = case when $7 then 0 else failures end,
	failing_since = case when $7 then null else failing_since end,
	retry_at = case when $7 then null else retry_at end,
	version = version + 1, updated_at = now()
where id = $1
returning ` + columns

// Update changes a webhook. One that is suspended by it loses what it has not delivered;
// one that gets another address or is active again is tried at once.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, f Fields, id int64, c Change) (*Webhook, error) {
	before, err := lockWebhook(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	n := *before
	if err := c.apply(ctx, tx, &n, f); err != nil {
		return nil, err
	}
	if err := permit(ctx, tx, w, n.ProjectIDs); err != nil {
		return nil, err
	}
	anew := n.URL != before.URL || n.Status == Active && before.Status == Suspended
	var after Webhook
	err = tx.GetContext(ctx, &after, updateWebhook, id, n.Name, n.URL, n.Actions, n.ProjectIDs, n.Status, anew)
	if err != nil {
		return nil, storage.Wrap(err, "update webhook")
	}
	if n.Status == Suspended && before.Status == Active {
		if err := failPending(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	if anew && n.Status == Active {
		if err := retryNow(ctx, tx, &after); err != nil {
			return nil, err
		}
	}
	return &after, audit(ctx, tx, w.Actor, &after, account.WebhookUpdated, differences(before, &after))
}

func differences(from, to *Webhook) map[string]any {
	was, is := map[string]any{}, map[string]any{}
	note := func(name string, changed bool, a, b any) {
		if changed {
			was[name], is[name] = a, b
		}
	}
	note("name", from.Name != to.Name, from.Name, to.Name)
	note("url", from.URL != to.URL, Redacted(from.URL), Redacted(to.URL))
	note("status", from.Status != to.Status, from.Status, to.Status)
	note("actions", !slices.Equal(from.Actions, to.Actions), from.Actions, to.Actions)
	note("project_ids", !slices.Equal(from.ProjectIDs, to.ProjectIDs), from.ProjectIDs, to.ProjectIDs)
	return map[string]any{"from": was, "to": is}
}

// lockWebhook reads a webhook that the writer may change, until the transaction ends.
func lockWebhook(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (*Webhook, error) {
	var row Webhook
	err := tx.GetContext(ctx, &row, `select `+columns+` from webhooks where organization_id = $1 and id = $2 for update`, w.OrganizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("webhook %d", id))
	}
	return &row, permit(ctx, tx, w, row.ProjectIDs)
}

// Delete deletes a webhook with its deliveries.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	row, err := lockWebhook(ctx, tx, w, id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from webhooks where id = $1`, id); err != nil {
		return storage.Wrap(err, "delete webhook")
	}
	return audit(ctx, tx, w.Actor, row, account.WebhookDeleted, map[string]any{"name": row.Name, "url": Redacted(row.URL)})
}

const rotateSecret = `
update webhooks set former_secret = secret, former_until = $3, secret = $2, version = version + 1, updated_at = now()
where id = $1 returning ` + columns

// Rotate gives a webhook another sealed secret. Deliveries are signed with the former one
// as well until then.
func Rotate(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, sealed []byte, until time.Time) (*Webhook, error) {
	if _, err := lockWebhook(ctx, tx, w, id); err != nil {
		return nil, err
	}
	var after Webhook
	if err := tx.GetContext(ctx, &after, rotateSecret, id, sealed, until); err != nil {
		return nil, storage.Wrap(err, "rotate the secret of a webhook")
	}
	return &after, audit(ctx, tx, w.Actor, &after, account.WebhookSecretRotated, map[string]any{"name": after.Name,
		"former_until": until.UTC()})
}

// ForgetFormer ends the time of the former secret now.
func ForgetFormer(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	row, err := lockWebhook(ctx, tx, w, id)
	if err != nil {
		return err
	}
	if row.FormerSecret == nil {
		return fmt.Errorf("former secret of webhook %d: %w", id, storage.ErrNotFound)
	}
	_, err = tx.ExecContext(ctx,
		`update webhooks set former_secret = null, former_until = null, version = version + 1, updated_at = now() where id = $1`, id)
	if err != nil {
		return storage.Wrap(err, "forget the former secret of a webhook")
	}
	return audit(ctx, tx, w.Actor, row, account.WebhookSecretRotated, map[string]any{"name": row.Name, "former_ended": true})
}
