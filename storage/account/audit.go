package account

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

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

const insertAuditEvents = `
insert into audit_events (organization_id, type, action, actor_user_id, actor, subject, detail,
	request_id, ip_address)
select nullif(e.organization_id, 0), e.type, e.action, nullif(e.actor_user_id, 0), e.actor, e.subject, e.detail::jsonb,
	e.request_id, e.ip_address
from unnest($1::bigint[], $2::int[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
	with ordinality as e(organization_id, type, action, actor_user_id, actor, subject, detail, request_id, ip_address, place)
order by e.place`

// maxSubject bounds a subject in bytes: it is a name, and names are bounded.
const maxSubject = 1024

// auditStep bounds the events of one statement.
const auditStep = 1000

// Audit writes events with the caller's transaction, in their order, by one statement for
// each thousand. Their types must be in the published table.
func Audit(ctx context.Context, q storage.Querier, events ...Event) error {
	for step := range slices.Chunk(events, auditStep) {
		var organizations, types, people []int64
		var actions, actors, subjects, details, requests, addresses []string
		for _, e := range step {
			action, detail, err := e.describe()
			if err != nil {
				return err
			}
			organizations, types, people = append(organizations, e.OrganizationID), append(types, int64(e.Type)), append(people, e.Actor.UserID)
			actions, actors, subjects = append(actions, action), append(actors, auditText(e.Actor.Name)), append(subjects, auditText(e.Subject))
			details, requests = append(details, detail), append(requests, auditText(e.Actor.RequestID))
			addresses = append(addresses, auditText(e.Actor.IPAddress))
		}
		_, err := q.ExecContext(ctx, insertAuditEvents, pq.Array(organizations), pq.Array(types), pq.Array(actions), pq.Array(people),
			pq.Array(actors), pq.Array(subjects), pq.Array(details), pq.Array(requests), pq.Array(addresses))
		if err != nil {
			return storage.Wrap(err, "write audit event "+actions[0])
		}
	}
	return nil
}

// describe returns the event's action, and its detail as JSON.
func (e *Event) describe() (action, detail string, err error) {
	entry, ok := e.Type.Describe()
	if !ok {
		return "", "", fmt.Errorf("audit: type %d is not in the table", e.Type)
	}
	if e.Actor.Name == "" {
		return "", "", fmt.Errorf("audit %s: no actor", entry.Action)
	}
	doc := []byte("{}")
	if e.Detail != nil {
		if doc, err = json.Marshal(e.Detail); err != nil {
			return "", "", fmt.Errorf("audit %s: detail: %w", entry.Action, err)
		}
	}
	if len(e.Actor.Claims) > 0 {
		claims, err := json.Marshal(e.Actor.Claims)
		if err != nil {
			return "", "", fmt.Errorf("audit %s: claims: %w", entry.Action, err)
		}
		doc = withClaims(doc, claims)
	}
	// jsonb refuses the escaped NUL that JSON itself allows.
	return entry.Action, strings.ReplaceAll(string(doc), `\u0000`, `\ufffd`), nil
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
