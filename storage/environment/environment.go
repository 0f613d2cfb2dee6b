// Package environment stores the environments of an organization: named sets of what
// tests run with, such as "staging" and "production".
//
// An Environment has the address where tests begin, variables, secrets, request headers,
// browser targets and a tunnel; each may be missing. Who starts a run names one, and its
// Values are copied, sealed, into the run: what is changed later reaches no run that was
// started before. A schedule names one too, and a suite may have a default; both keep the
// name, so that a name which is gone is noticed where it is used.
//
// The environment of a team is for the cases of that team alone: whoever writes a step can
// make a page show what a variable holds. The organization's are for all.
//
// The values of secrets, and of headers that carry credentials, are sealed and never read
// but by the worker. They cannot be unsealed with another signing key: seal.ErrUnseal.
package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Environment is a named set of what tests run with. Maps and lists are never nil.
type Environment struct {
	ID             uuid.UUID
	OrganizationID int64
	TeamID         int64 // 0: the organization's
	TeamUUID       *uuid.UUID
	Name           string
	TestURL        string // "": where each case begins
	Tunnel         string // "": each case's own
	Targets        []capability.Target
	Variables      map[string]string // those that are no secrets
	SecretNames    []string          // sorted
	Headers        map[string]string // by names in lower case; those that are no secrets
	SecretHeaders  []string          // sorted
	Version        int               // rises with each change
	CreatorUUID    uuid.UUID
	ModifierUUID   uuid.UUID
	CreatedAt      time.Time
	UpdatedAt      time.Time

	sealed []byte // nil without secrets
}

type row struct {
	ID             uuid.UUID      `db:"id"`
	OrganizationID int64          `db:"organization_id"`
	TeamID         int64          `db:"team_id"`
	TeamUUID       *uuid.UUID     `db:"team_uuid"`
	Name           string         `db:"name"`
	TestURL        string         `db:"test_url"`
	Tunnel         string         `db:"tunnel"`
	Targets        []byte         `db:"targets"`
	Variables      []byte         `db:"variables"`
	SecretNames    pq.StringArray `db:"secret_names"`
	Headers        []byte         `db:"headers"`
	SecretHeaders  pq.StringArray `db:"secret_headers"`
	Sealed         []byte         `db:"sealed"`
	Version        int            `db:"version"`
	CreatorUUID    uuid.UUID      `db:"creator_uuid"`
	ModifierUUID   uuid.UUID      `db:"modifier_uuid"`
	CreatedAt      time.Time      `db:"created_at"`
	UpdatedAt      time.Time      `db:"updated_at"`
}

func (r *row) environment() (*Environment, error) {
	e := &Environment{ID: r.ID, OrganizationID: r.OrganizationID, TeamID: r.TeamID, TeamUUID: r.TeamUUID, Name: r.Name,
		TestURL: r.TestURL, Tunnel: r.Tunnel, SecretNames: orEmpty(r.SecretNames), SecretHeaders: orEmpty(r.SecretHeaders),
		Version: r.Version, CreatorUUID: r.CreatorUUID, ModifierUUID: r.ModifierUUID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		sealed: r.Sealed}
	for _, document := range []struct {
		text []byte
		into any
	}{{r.Targets, &e.Targets}, {r.Variables, &e.Variables}, {r.Headers, &e.Headers}} {
		if err := json.Unmarshal(document.text, document.into); err != nil {
			return nil, fmt.Errorf("environment %s: %w", r.ID, err)
		}
	}
	return e, nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

const columns = `c.id, c.organization_id, coalesce(c.team_id, 0) as team_id, t.uuid as team_uuid, c.name, c.test_url, c.tunnel,
	c.targets, c.variables, c.secret_names, c.headers, c.secret_headers, c.sealed, c.version, c.creator_uuid, c.modifier_uuid,
	c.created_at, c.updated_at`

const tables = ` from test_environments c left join teams t on t.id = c.team_id`

// Filter selects environments of a list.
type Filter struct {
	OrganizationID int64
	Team           *uuid.UUID
	Search         string // part of the name, in any case
	storage.Page
}

// List returns a page of environments by name, and the number of all that match. An
// organization has at most Most: they are read whole.
func List(ctx context.Context, q storage.Querier, f Filter) ([]Environment, int, error) {
	m := authoring.ConditionsOf(f.OrganizationID)
	m.Named(f.Search)
	m.By(nil, f.Team)
	var total int
	if err := q.GetContext(ctx, &total, m.Total("test_environments"), m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "count environments")
	}
	list := []Environment{}
	if f.RowLimit() == 0 {
		return list, total, nil
	}
	var rows []row
	query := `select ` + columns + tables + ` where ` + m.Where() + ` order by c.name limit ` + m.Arg(f.RowLimit()) +
		` offset ` + m.Arg(f.RowOffset())
	if err := q.SelectContext(ctx, &rows, query, m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "list environments")
	}
	for i := range rows {
		e, err := rows[i].environment()
		if err != nil {
			return nil, 0, err
		}
		list = append(list, *e)
	}
	return list, total, nil
}

// ByID reads one environment; ErrNotFound also for another organization's.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Environment, error) {
	return read(ctx, q, "environment "+id.String(), `select `+columns+tables+` where c.organization_id = $1 and c.id = $2`, organizationID, id)
}

// ByName reads the environment of a name; ErrNotFound.
func ByName(ctx context.Context, q storage.Querier, organizationID int64, name string) (*Environment, error) {
	if !IsName(name) {
		return nil, fmt.Errorf("environment: %w", storage.ErrNotFound)
	}
	return read(ctx, q, "environment "+name, `select `+columns+tables+` where c.organization_id = $1 and c.name = $2`, organizationID, name)
}

func read(ctx context.Context, q storage.Querier, what, query string, args ...any) (*Environment, error) {
	var r row
	if err := q.GetContext(ctx, &r, query, args...); err != nil {
		return nil, storage.Wrap(err, what)
	}
	return r.environment()
}
