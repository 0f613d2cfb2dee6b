package mail

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Template is an organization's own template of a kind of mail. Package
// mailtemplate has checked it.
type Template struct {
	Kind      string    `db:"kind"`
	Subject   string    `db:"subject"`
	Text      string    `db:"body"`
	UpdatedAt time.Time `db:"updated_at"`
}

// TemplateOf reads an organization's template of a kind; ErrNotFound for none.
func TemplateOf(ctx context.Context, q storage.Querier, organizationID int64, kind string) (*Template, error) {
	var t Template
	err := q.GetContext(ctx, &t, `select kind, subject, body, updated_at from mail_templates where organization_id = $1 and kind = $2`,
		organizationID, kind)
	if err != nil {
		return nil, storage.Wrap(err, "mail template "+kind)
	}
	return &t, nil
}

// Templates reads all templates of an organization, by kind.
func Templates(ctx context.Context, q storage.Querier, organizationID int64) (map[string]Template, error) {
	var list []Template
	err := q.SelectContext(ctx, &list, `select kind, subject, body, updated_at from mail_templates where organization_id = $1`, organizationID)
	if err != nil {
		return nil, storage.Wrap(err, "mail templates")
	}
	byKind := map[string]Template{}
	for _, t := range list {
		byKind[t.Kind] = t
	}
	return byKind, nil
}

const setTemplate = `
insert into mail_templates (organization_id, kind, subject, body) values ($1, $2, $3, $4)
on conflict (organization_id, kind) do update set subject = excluded.subject, body = excluded.body, updated_at = now()
returning updated_at`

// SetTemplate stores an organization's template, which the caller has checked, and
// sets its time.
func SetTemplate(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, t *Template) error {
	if err := tx.GetContext(ctx, &t.UpdatedAt, setTemplate, organizationID, t.Kind, t.Subject, t.Text); err != nil {
		return storage.Wrap(err, "store mail template")
	}
	return auditTemplate(ctx, tx, actor, organizationID, t.Kind, map[string]any{"kind": t.Kind, "subject": t.Subject})
}

// ResetTemplate goes back to the built-in template; nothing happens when there is no
// other.
func ResetTemplate(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, kind string) error {
	var found string
	err := tx.GetContext(ctx, &found, `delete from mail_templates where organization_id = $1 and kind = $2 returning kind`,
		organizationID, kind)
	err = storage.Wrap(err, "reset mail template")
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return auditTemplate(ctx, tx, actor, organizationID, kind, map[string]any{"kind": kind, "reset": true})
}

func auditTemplate(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, kind string,
	detail map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.MailTemplateChanged, Actor: actor,
		Subject: "mail template " + kind, Detail: detail})
}
