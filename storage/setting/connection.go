package setting

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// Connection is an organization's connection to the vendor's app storage.
type Connection struct {
	Kind      string `db:"kind"`     // "s3" or "http"
	Endpoint  string `db:"endpoint"` // s3: https://host[:port]; http: the URL that files are posted to
	Bucket    string `db:"bucket"`
	Region    string `db:"region"`
	Prefix    string `db:"prefix"`
	AccessKey string `db:"access_key"` // http: user name
	Secret    []byte `db:"sealed"`     // sealed: see Seal
}

const connectionOf = `
select kind, endpoint, bucket, region, prefix, access_key, sealed
from storage_connections where organization_id = $1`

// ConnectionOf reads the connection; storage.ErrNotFound when there is none.
func ConnectionOf(ctx context.Context, q storage.Querier, organizationID int64) (*Connection, error) {
	var c Connection
	if err := q.GetContext(ctx, &c, connectionOf, organizationID); err != nil {
		return nil, storage.Wrap(err, "storage connection")
	}
	return &c, nil
}

// maxSecret is that of a sealed secret of a few thousand characters.
const maxSecret = 8192

func (c *Connection) check() error {
	if c.Kind != "s3" && c.Kind != "http" {
		return storage.Invalid("kind", "must be s3 or http")
	}
	u, err := url.Parse(c.Endpoint)
	switch {
	case len(c.Endpoint) > text.MaxURL || err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return storage.Invalid("endpoint", "must be an http or https URL of at most %d characters", text.MaxURL)
	case u.User != nil || u.Fragment != "":
		return storage.Invalid("endpoint", "must not hold a user name, a password or a fragment")
	case c.Kind == "s3" && (strings.Trim(u.Path, "/") != "" || u.RawQuery != ""):
		return storage.Invalid("endpoint", "of s3 must be https://host or https://host:port")
	case c.Kind == "s3" && strings.TrimSpace(c.Bucket) == "":
		return storage.Invalid("bucket", "is required for s3")
	case len(c.Secret) > maxSecret:
		return storage.Invalid("secret", "is too long")
	}
	for _, member := range []struct {
		field string
		value *string
	}{{"endpoint", &c.Endpoint}, {"bucket", &c.Bucket}, {"region", &c.Region}, {"prefix", &c.Prefix}, {"access_key", &c.AccessKey}} {
		if *member.value, err = storage.Line(member.field, *member.value, text.MaxURL); err != nil {
			return err
		}
	}
	return nil
}

const upsertConnection = `
insert into storage_connections (organization_id, kind, endpoint, bucket, region, prefix, access_key, sealed)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (organization_id) do update set kind = excluded.kind, endpoint = excluded.endpoint,
	bucket = excluded.bucket, region = excluded.region, prefix = excluded.prefix,
	access_key = excluded.access_key, sealed = excluded.sealed, updated_at = now()`

// SetConnection creates or replaces the connection. The former secret is never
// kept: with another endpoint it would be sent to whom it was not meant for.
func SetConnection(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, c Connection) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Secret == nil {
		c.Secret = []byte{}
	}
	_, err := tx.ExecContext(ctx, upsertConnection, organizationID, c.Kind, c.Endpoint, c.Bucket, c.Region,
		c.Prefix, c.AccessKey, c.Secret)
	if err != nil {
		return storage.Wrap(err, "set storage connection")
	}
	return auditConnection(ctx, tx, actor, organizationID, map[string]any{"kind": c.Kind, "endpoint": c.Endpoint,
		"bucket": c.Bucket, "region": c.Region, "prefix": c.Prefix, "access_key": c.AccessKey})
}

// DeleteConnection removes it.
func DeleteConnection(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64) error {
	var kind string
	err := tx.GetContext(ctx, &kind, `delete from storage_connections where organization_id = $1 returning kind`, organizationID)
	if err != nil {
		return storage.Wrap(err, "delete storage connection")
	}
	return auditConnection(ctx, tx, actor, organizationID, map[string]any{"kind": kind, "deleted": true})
}

func auditConnection(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, detail map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.ConnectionChanged,
		Actor: actor, Subject: fmt.Sprintf("organization %d", organizationID), Detail: detail})
}
