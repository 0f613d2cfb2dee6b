// Package audit reads the audit log, which package account writes: pages of it by
// action, time, person and text, the whole of it in the order of time, and what of it
// has reached its retention.
//
// A list may be over several organizations, the sites of one account. Events are sorted
// by their time, newest first, those of one transaction by their id. Every list reads an
// index from its newest end and stops at the page's last row, so that the size of the log
// does not matter: one range of the index for each organization, or for each organization
// and type where a trail or an action is asked for. Counting stops at storage.CountReach.
//
// A search looks at the newest events first, which finds what is frequent, and asks the
// index of texts for what is rare. See search.go.
//
// Nothing here changes an event. Expire deletes those whose retention is over, and a
// trigger of the database lets it delete no others.
//
// Failures are those of package storage.
package audit

import (
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage/account"
)

// Entry is an event of an organization.
type Entry struct {
	ID             int64             `db:"id"`
	OrganizationID int64             `db:"organization_id"`
	Slug           string            `db:"slug"` // of the organization
	At             time.Time         `db:"at"`
	Type           account.AuditType `db:"type"`
	Action         string            `db:"action"`
	UserID         *int64            `db:"actor_user_id"` // nil: no user of an organization
	Actor          string            `db:"actor"`         // mail address or user name
	Subject        string            `db:"subject"`
	Detail         json.RawMessage   `db:"detail"` // a JSON object
	RequestID      string            `db:"request_id"`
	IPAddress      string            `db:"ip_address"`
}

// Label is the name of the action for people.
func (e *Entry) Label() string {
	if line, ok := e.Type.Describe(); ok {
		return line.Label
	}
	return e.Action
}

// Filter selects events. Zero values select all.
type Filter struct {
	Organizations []int64 // none: no event
	Types         []account.AuditType
	UserID        int64
	Search        string    // part of the actor, the subject, the address or the data
	From, To      time.Time // From inclusive, To exclusive
}

// statement gathers the arguments of a statement.
type statement struct{ args []any }

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + itoa(len(s.args))
}

// sources are the ranges of an index that the filter reads, each by the lateral part
// that the caller builds with the condition.
func (f *Filter) sources(s *statement) (from, condition string) {
	from = "unnest(" + s.arg(pq.Array(f.Organizations)) + "::bigint[]) as o (id)"
	condition = "e.organization_id = o.id"
	if len(f.Types) > 0 {
		from += " cross join unnest(" + s.arg(pq.Array(f.Types)) + "::integer[]) as t (type)"
		condition += " and e.type = t.type"
	}
	return from, condition + f.narrow(s)
}

// narrow are the conditions beside organization, type and text.
func (f *Filter) narrow(s *statement) string {
	var c string
	if f.UserID != 0 {
		c += " and e.actor_user_id = " + s.arg(f.UserID)
	}
	if !f.From.IsZero() {
		c += " and e.at >= " + s.arg(f.From)
	}
	if !f.To.IsZero() {
		c += " and e.at < " + s.arg(f.To)
	}
	return c
}
