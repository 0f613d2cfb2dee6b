package webhook

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// NewMail returns what mails the owners and admins of an organization that one of its
// webhooks was suspended, once for each suspension.
func NewMail(writer *letter.Writer, links link.Links) Notify {
	return func(ctx context.Context, tx *storage.Tx, w *webhook.Webhook, reason string) error {
		admins, err := mail.Admins(ctx, tx, w.OrganizationID)
		if err != nil {
			return err
		}
		content := mailtemplate.WebhookSuspended{Name: w.Name, URL: webhook.Redacted(w.URL), Reason: reason,
			Link: links.Path(fmt.Sprintf("/api/v3/webhooks/%d", w.ID))}
		list := make([]letter.Letter, len(admins))
		for i, admin := range admins {
			list[i] = letter.Letter{OrganizationID: w.OrganizationID, UserID: admin.UserID, Recipient: admin.Email,
				Content: content, DedupeKey: fmt.Sprintf("webhook-suspended %d %d %d", w.ID, w.Version, admin.UserID)}
		}
		_, err = writer.WriteAll(ctx, tx, list)
		return err
	}
}
