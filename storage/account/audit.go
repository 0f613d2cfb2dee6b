package account

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Event is one line of the audit log. Rows are never changed or deleted: a
// trigger refuses it.
type Event struct {
	OrganizationID int64 // 0: the installation
	Type           AuditType
	Actor          Actor
	Subject        string // what was changed, as text that outlives it: "key 12", a mail address
	Detail         any    // a JSON object, {} when nil; never a secret
}

const insertAuditEvent = `
insert into audit_events (organization_id, type, action, actor_user_id, actor, subject, detail,
	request_id, ip_address)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// maxSubject bounds a subject in bytes: it is a name, and names are bounded.
const maxSubject = 1024

// Audit writes an event with the caller's transaction. The type must be in the
// published table.
func Audit(ctx context.Context, q storage.Querier, e Event) error {
	entry, ok := e.Type.Describe()
	if !ok {
		return fmt.Errorf("audit: type %d is not in the table", e.Type)
	}
	if e.Actor.Name == "" {
		return fmt.Errorf("audit %s: no actor", entry.Action)
	}
	detail := []byte("{}")
	if e.Detail != nil {
		var err error
		if detail, err = json.Marshal(e.Detail); err != nil {
			return fmt.Errorf("audit %s: detail: %w", entry.Action, err)
		}
	}
	if len(e.Actor.Claims) > 0 {
		claims, err := json.Marshal(e.Actor.Claims)
		if err != nil {
			return fmt.Errorf("audit %s: claims: %w", entry.Action, err)
		}
		detail = withClaims(detail, claims)
	}
	// jsonb refuses the escaped NUL that JSON itself allows.
	doc := strings.ReplaceAll(string(detail), `\u0000`, `\ufffd`)
	_, err := q.ExecContext(ctx, insertAuditEvent, nullID(e.OrganizationID), int(e.Type), entry.Action,
		nullID(e.Actor.UserID), auditText(e.Actor.Name), auditText(e.Subject), doc,
		auditText(e.Actor.RequestID), auditText(e.Actor.IPAddress))
	return storage.Wrap(err, "write audit event "+entry.Action)
}

// withClaims puts the claims into a JSON object, in front: of a member that stands
// twice, the database keeps the last.
func withClaims(detail, claims []byte) []byte {
	object := slices.Concat([]byte(`{"oidc":`), claims)
	if members := bytes.TrimPrefix(detail, []byte("{")); len(members) > 1 {
		object = append(object, ',')
	}
	return append(object, bytes.TrimPrefix(detail, []byte("{"))...)
}

// auditText cleans any text for the log: an audit row must not fail, and take
// the operation with it, because of a name that a client chose.
func auditText(s string) string {
	if len(s) > maxSubject {
		s = s[:maxSubject]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func nullID(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// AuditRow is a stored event.
type AuditRow struct {
	ID             int64           `db:"id" json:"id"`
	OrganizationID *int64          `db:"organization_id" json:"organization_id"`
	At             time.Time       `db:"at" json:"at"`
	Type           AuditType       `db:"type" json:"type"`
	Action         string          `db:"action" json:"action"`
	ActorUserID    *int64          `db:"actor_user_id" json:"actor_user_id"`
	Actor          string          `db:"actor" json:"actor"`
	Subject        string          `db:"subject" json:"subject"`
	Detail         json.RawMessage `db:"detail" json:"detail"`
	RequestID      string          `db:"request_id" json:"request_id"`
	IPAddress      string          `db:"ip_address" json:"ip_address"`
}

const auditEvents = `
select id, organization_id, at, type, action, actor_user_id, actor, subject, detail, request_id, ip_address
from audit_events
where organization_id is not distinct from $1
order by at desc, id desc limit $2 offset $3`

// AuditEvents reads an organization's events, newest first; those of the
// installation with organization 0.
func AuditEvents(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]AuditRow, error) {
	rows := []AuditRow{}
	err := q.SelectContext(ctx, &rows, auditEvents, nullID(organizationID), p.RowLimit(), p.RowOffset())
	return rows, storage.Wrap(err, "read audit events")
}
