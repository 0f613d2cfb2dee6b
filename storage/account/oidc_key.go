package account

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

const (
	oidcKeyPrefix = "oidc_"
	// oidcKeyBytes are 192 random bits: a digest needs no salt.
	oidcKeyBytes = 24
)

// NewOIDC creates the key of an OIDC configuration: oidc_ and 48 hexadecimal digits.
func (i *Issuer) NewOIDC() (Secret, error) {
	random := make([]byte, oidcKeyBytes)
	if _, err := io.ReadFull(i.random, random); err != nil {
		return Secret{}, fmt.Errorf("make a configuration key: %w", err)
	}
	return SecretOf(oidcKeyPrefix + hex.EncodeToString(random)), nil
}

// ParseOIDCKey returns the digest of a configuration key, or ErrMalformedKey.
func ParseOIDCKey(text string) (Digest, error) {
	digits, ok := strings.CutPrefix(text, oidcKeyPrefix)
	if !ok || len(digits) != 2*oidcKeyBytes || strings.Trim(digits, "0123456789abcdef") != "" {
		return Digest{}, ErrMalformedKey
	}
	return DigestOf(text), nil
}

const setOIDCKey = `
update oidc_configurations set key_digest = $2, key_hint = $3, updated_at = now()
where organization_id = $1 returning organization_id`

// RotateOIDCKey replaces the configuration key; the former one ends at once.
// ErrNotFound when the organization has no configuration.
func RotateOIDCKey(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, organizationID int64) (*OIDC, Secret, error) {
	if err := LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, Secret{}, err
	}
	old, err := OIDCOf(ctx, tx, organizationID)
	if err != nil {
		return nil, Secret{}, err
	}
	secret, err := keys.NewOIDC()
	if err != nil {
		return nil, Secret{}, err
	}
	var id int64
	if err := tx.GetContext(ctx, &id, setOIDCKey, organizationID, secret.Digest[:], secret.Hint); err != nil {
		return nil, Secret{}, storage.Wrap(err, "set configuration key")
	}
	changed, err := OIDCOf(ctx, tx, organizationID)
	if err != nil {
		return nil, Secret{}, err
	}
	return changed, secret, auditOIDC(ctx, tx, actor, organizationID,
		map[string]any{"config_key_hint": old.KeyHint}, map[string]any{"config_key_hint": secret.Hint})
}

// auditOIDC writes a change of the configuration: the members that changed, nil where
// there is no configuration.
func auditOIDC(ctx context.Context, tx *storage.Tx, actor Actor, organizationID int64, from, to map[string]any) error {
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: SecurityChanged, Actor: actor, Subject: "OIDC configuration",
		Detail: map[string]any{"from": map[string]any{"oidc": from}, "to": map[string]any{"oidc": to}}})
}
