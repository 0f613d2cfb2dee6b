package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// ErrFull means that the organization has Most environments.
var ErrFull = errors.New("the organization has its most environments")

// Change is what of an environment to change; nil members stay. Of the maps, a value that
// is nil removes its name, and names that are not given stay. Whoever calls has checked the
// targets and the address by what the installation permits.
type Change struct {
	TestURL   *string
	Tunnel    *string
	Targets   *[]capability.Target
	Variables map[string]*string
	Secrets   map[string]*string
	Headers   map[string]*string // names in any case
	// Version, when not 0, is the version that the caller has read.
	Version int
}

// New is an environment to create.
type New struct {
	Name string
	Team *uuid.UUID // nil: the organization's
	Change
}

// draft is an environment that is being changed, with its secrets.
type draft struct {
	Environment
	hidden *secrets
}

// apply changes the draft; *storage.InvalidError by the paths of a body.
func (d *draft) apply(c *Change) error {
	if c.TestURL != nil {
		if err := checkTestURL(*c.TestURL); err != nil {
			return err
		}
		d.TestURL = *c.TestURL
	}
	if c.Tunnel != nil {
		if *c.Tunnel != "" && authoring.CheckTunnelName(*c.Tunnel) != nil {
			return storage.Invalid("tunnel", "is no name of a tunnel")
		}
		d.Tunnel = *c.Tunnel
	}
	if c.Targets != nil {
		if err := checkTargets(*c.Targets); err != nil {
			return err
		}
		d.Targets = *c.Targets
	}
	for name, value := range c.Variables {
		if err := put(d.Variables, name, value, func(name, value string) error { return checkVariable("variables", name, value) }); err != nil {
			return err
		}
	}
	for name, value := range c.Secrets {
		if err := put(d.hidden.Variables, name, value, checkSecret); err != nil {
			return err
		}
	}
	for name, value := range c.Headers {
		name, into := strings.ToLower(name), d.Headers
		if isSecretHeader(name) {
			into = d.hidden.Headers
		}
		if err := put(into, name, value, checkHeader); err != nil {
			return err
		}
	}
	d.SecretNames, d.SecretHeaders = sortedNames(d.hidden.Variables), sortedNames(d.hidden.Headers)
	return d.check()
}

// put sets the value of a name, or removes it.
func put(into map[string]string, name string, value *string, check func(name, value string) error) error {
	if value == nil {
		delete(into, name)
		return nil
	}
	into[name] = *value
	return check(name, *value)
}

func sortedNames(of map[string]string) []string {
	return append([]string{}, slices.Sorted(maps.Keys(of))...)
}

// columns are the values of the columns from test_url to sealed.
func (d *draft) columns(keys seal.Ring) ([]any, error) {
	list := []any{d.TestURL, d.Tunnel}
	texts := make([]string, 0, 3)
	for _, part := range []any{d.Targets, d.Variables, d.Headers} {
		doc, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("environment %s: %w", d.Name, err)
		}
		texts = append(texts, storage.WithoutNUL(string(doc)))
	}
	sealed, err := d.hidden.seal(keys)
	return append(list, texts[0], texts[1], pq.Array(d.SecretNames), texts[2], pq.Array(d.SecretHeaders), sealed), err
}

const insertEnvironment = `
insert into test_environments (id, organization_id, team_id, name, creator_uuid, modifier_uuid,
	test_url, tunnel, targets, variables, secret_names, headers, secret_headers, sealed)
values ($1, $2, nullif($3::bigint, 0), $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// countEnvironments is right until the end of the transaction, by the lock of the
// organization.
const countEnvironments = `select count(*) from test_environments where organization_id = $1`

// Create inserts an environment; keys seal its secrets. ErrConflict when the name is
// taken, ErrFull, authoring.ErrForbidden when it is not the writer's (the organization's
// take an admin), ErrNotFound when the team does not exist, *storage.InvalidError.
func Create(ctx context.Context, tx *storage.Tx, w account.Writer, keys seal.Ring, n New) (*Environment, error) {
	if err := checkName(n.Name); err != nil {
		return nil, err
	}
	d := &draft{hidden: &secrets{Variables: map[string]string{}, Headers: map[string]string{}},
		Environment: Environment{ID: storage.NewID(), Name: n.Name, Targets: []capability.Target{}, Variables: map[string]string{},
			Headers: map[string]string{}}}
	if err := d.apply(&n.Change); err != nil {
		return nil, err
	}
	if err := account.LockOrganization(ctx, tx, w.OrganizationID); err != nil {
		return nil, err
	}
	if n.Team != nil {
		err := tx.GetContext(ctx, &d.TeamID, `select id from teams where organization_id = $1 and uuid = $2 for key share`,
			w.OrganizationID, *n.Team)
		if err != nil {
			return nil, storage.Wrap(err, "team of an environment")
		}
	}
	if !mayDecide(w, d.TeamID) {
		return nil, authoring.ErrForbidden
	}
	var has int
	if err := tx.GetContext(ctx, &has, countEnvironments, w.OrganizationID); err != nil {
		return nil, storage.Wrap(err, "count environments")
	}
	if has >= Most {
		return nil, ErrFull
	}
	rest, err := d.columns(keys)
	if err != nil {
		return nil, err
	}
	args := append([]any{d.ID, w.OrganizationID, d.TeamID, d.Name, w.UserUUID}, rest...)
	if _, err := tx.ExecContext(ctx, insertEnvironment, args...); err != nil {
		return nil, storage.Wrap(err, "create environment "+n.Name)
	}
	e, err := ByID(ctx, tx, w.OrganizationID, d.ID)
	if err != nil {
		return nil, err
	}
	return e, audit(ctx, tx, w, account.EnvironmentCreated, e)
}

// mayDecide reports whether the writer may change environments of the team, or for 0 of
// the organization.
func mayDecide(w account.Writer, team int64) bool {
	if team == 0 {
		return w.Admin
	}
	return w.May(team)
}

// lockedBy locks an environment that the writer may change.
func lockedBy(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, strength string) (*Environment, error) {
	e, err := read(ctx, tx, "environment "+id.String(),
		`select `+columns+tables+` where c.organization_id = $1 and c.id = $2 for `+strength+` of c`, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	if !mayDecide(w, e.TeamID) {
		return nil, authoring.ErrForbidden
	}
	return e, nil
}

const updateEnvironment = `
update test_environments set modifier_uuid = $2, test_url = $3, tunnel = $4, targets = $5, variables = $6, secret_names = $7,
	headers = $8, secret_headers = $9, sealed = $10, version = version + 1, updated_at = now()
where id = $1`

// Update changes an environment, whose name and team stay. storage.ErrStale when it has
// another version. A change of nothing leaves the version; a secret that is given counts as
// changed: what does not change would tell what the secret is.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, keys seal.Ring, id uuid.UUID, c Change) (*Environment, error) {
	before, err := lockedBy(ctx, tx, w, id, "no key update")
	if err != nil {
		return nil, err
	}
	if c.Version != 0 && c.Version != before.Version {
		return nil, fmt.Errorf("environment %s has version %d: %w", id, before.Version, storage.ErrStale)
	}
	hidden, err := before.secrets(keys)
	if err != nil {
		return nil, err
	}
	d := &draft{Environment: *before, hidden: hidden}
	d.Variables, d.Headers = maps.Clone(before.Variables), maps.Clone(before.Headers)
	if err := d.apply(&c); err != nil {
		return nil, err
	}
	if same, err := d.is(before, &c); err != nil || same {
		return before, err
	}
	rest, err := d.columns(keys)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, updateEnvironment, append([]any{id, w.UserUUID}, rest...)...); err != nil {
		return nil, storage.Wrap(err, "update environment "+before.Name)
	}
	after, err := ByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	return after, audit(ctx, tx, w, account.EnvironmentUpdated, after)
}

// is reports whether the change has left the environment as it was.
func (d *draft) is(before *Environment, c *Change) (bool, error) {
	for _, value := range c.Secrets {
		if value != nil {
			return false, nil
		}
	}
	for name, value := range c.Headers {
		if value != nil && isSecretHeader(strings.ToLower(name)) {
			return false, nil
		}
	}
	was, err := json.Marshal(before.Targets)
	if err != nil {
		return false, err
	}
	is, err := json.Marshal(d.Targets)
	return err == nil && string(was) == string(is) && d.TestURL == before.TestURL && d.Tunnel == before.Tunnel &&
		maps.Equal(d.Variables, before.Variables) && maps.Equal(d.Headers, before.Headers) &&
		slices.Equal(d.SecretNames, before.SecretNames) && slices.Equal(d.SecretHeaders, before.SecretHeaders), err
}

// Delete removes an environment that is no suite's default: *authoring.InUseError. Runs that have it go on with their copies.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	e, err := lockedBy(ctx, tx, w, id, "update")
	if err != nil {
		return err
	}
	if err := authoring.CheckNoDefault(ctx, tx, w.OrganizationID, e.Name); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from test_environments where id = $1`, id); err != nil {
		return storage.Wrap(err, "delete environment "+e.Name)
	}
	return audit(ctx, tx, w, account.EnvironmentDeleted, e)
}

// audit writes what is known of an environment without values.
func audit(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, e *Environment) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "environment " + e.Name,
		Detail: map[string]any{"id": e.ID, "name": e.Name, "host": shownHost(e.TestURL), "version": e.Version,
			"variables": sortedNames(e.Variables), "secrets": e.SecretNames,
			"headers": append(sortedNames(e.Headers), e.SecretHeaders...)}})
}
