package oidc

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const setKey = `
update oidc_configurations set key_digest = $2, key_hint = $3, updated_at = now()
where organization_id = $1 returning organization_id`

// RotateKey replaces the configuration key; the former one ends at once.
// ErrNotFound when the organization has no configuration.
func RotateKey(ctx context.Context, tx *storage.Tx, actor account.Actor, keys *account.Issuer,
	organizationID int64) (*Configuration, account.Secret, error) {
	if err := account.LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, account.Secret{}, err
	}
	old, err := Of(ctx, tx, organizationID)
	if err != nil {
		return nil, account.Secret{}, err
	}
	secret, err := keys.NewOIDC()
	if err != nil {
		return nil, account.Secret{}, err
	}
	var id int64
	if err := tx.GetContext(ctx, &id, setKey, organizationID, secret.Digest[:], secret.Hint); err != nil {
		return nil, account.Secret{}, storage.Wrap(err, "set configuration key")
	}
	changed, err := Of(ctx, tx, organizationID)
	if err != nil {
		return nil, account.Secret{}, err
	}
	return changed, secret, audit(ctx, tx, actor, organizationID,
		map[string]any{"config_key_hint": old.KeyHint}, map[string]any{"config_key_hint": secret.Hint})
}

// audit writes a change of the configuration: the members that changed, nil where
// there is no configuration.
func audit(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, from, to map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.SecurityChanged, Actor: actor,
		Subject: "OIDC configuration",
		Detail:  map[string]any{"from": map[string]any{"oidc": from}, "to": map[string]any{"oidc": to}}})
}
