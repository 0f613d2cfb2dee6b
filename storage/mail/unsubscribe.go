package mail

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Subscription is whether a person gets mail from an organization that is for
// choosing.
type Subscription struct {
	Organization string `db:"organization"` // its name
	Email        string `db:"email"`
	Unsubscribed bool   `db:"unsubscribed"`
}

// SubscriptionOf reads the subscription of a member; ErrNotFound for who is none.
func SubscriptionOf(ctx context.Context, q storage.Querier, organizationID, userID int64) (*Subscription, error) {
	var s Subscription
	err := q.GetContext(ctx, &s, `
		select o.name as organization, coalesce(u.email, '') as email, x.user_id is not null as unsubscribed
		from memberships m join organizations o on o.id = m.organization_id join users u on u.id = m.user_id
		left join mail_unsubscribes x on x.organization_id = m.organization_id and x.user_id = m.user_id
		where m.organization_id = $1 and m.user_id = $2`, organizationID, userID)
	if err != nil {
		return nil, storage.Wrap(err, "subscription")
	}
	return &s, nil
}

// SetUnsubscribed ends the mail of an organization to a member, or lets it begin
// again. What is so already stays, and is not audited. ErrNotFound for who is no
// member.
func SetUnsubscribed(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, userID int64, unsubscribed bool) error {
	s, err := SubscriptionOf(ctx, tx, organizationID, userID)
	if err != nil {
		return err
	}
	statement, what := `delete from mail_unsubscribes where organization_id = $1 and user_id = $2`, account.TesterSubscribed
	if unsubscribed {
		statement, what = `insert into mail_unsubscribes (organization_id, user_id) values ($1, $2) on conflict do nothing`,
			account.TesterUnsubscribed
	}
	result, err := tx.ExecContext(ctx, statement, organizationID, userID)
	if err != nil {
		return storage.Wrap(err, "change subscription")
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 {
		return storage.Wrap(err, "change subscription")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: what, Actor: actor, Subject: s.Email,
		Detail: map[string]any{"user_id": userID, "email": s.Email}})
}
