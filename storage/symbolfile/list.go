package symbolfile

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

const uploadByID = `
select ` + uploadColumns + ` from symbols s join files f on f.id = s.file_id where s.organization_id = $1 and s.id = $2`

// UploadByID reads an upload of the organization.
func UploadByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Upload, error) {
	var u Upload
	err := q.GetContext(ctx, &u, uploadByID, organizationID, id)
	return &u, storage.Wrap(err, fmt.Sprintf("symbols %d", id))
}

// Filter selects uploads; its zero members select all.
type Filter struct {
	OrganizationID int64
	States         []State
	Kinds          []symbol.Kind // of a debug file in it
	Identifier     string        // of a debug file in it, or the id that the sender named
	ProjectID      int64
	BuildID        int64
	Search         string // in the name or the release
}

// List returns a page of uploads, newest first.
func List(ctx context.Context, q storage.Querier, f Filter, p storage.Page) ([]Upload, storage.Total, error) {
	var c conditions
	where := f.where(&c)
	total, err := storage.CountUpTo(ctx, q, storage.CountReach, `select from symbols s`+where, c.args...)
	if err != nil {
		return nil, total, storage.Wrap(err, "count symbols")
	}
	list := []Upload{}
	err = q.SelectContext(ctx, &list, `select `+uploadColumns+` from symbols s join files f on f.id = s.file_id`+where+
		` order by s.id desc limit `+c.arg(p.RowLimit())+` offset `+c.arg(p.RowOffset()), c.args...)
	total.Next = len(list) == p.RowLimit()
	return list, total, storage.Wrap(err, "list symbols")
}

func (f *Filter) where(c *conditions) string {
	organization := c.arg(f.OrganizationID)
	c.add("s.organization_id = " + organization)
	if len(f.States) > 0 {
		c.add("s.state = any(" + c.arg(pq.Array(f.States)) + ")")
	}
	if len(f.Kinds) > 0 {
		c.add("exists (select from symbol_files sf where sf.symbol_id = s.id and sf.kind = any(" + c.arg(pq.Array(f.Kinds)) + "))")
	}
	if f.Identifier != "" {
		types, values := spellings(f.Identifier)
		c.add("(s.given_id <> '' and lower(s.given_id) = lower(" + c.arg(f.Identifier) +
			") or s.id in (select sf.symbol_id from symbol_identifiers i" +
			" join symbol_files sf on sf.id = i.symbol_file_id where i.organization_id = " + organization +
			" and (i.type, i.value) in (select * from unnest(" + c.arg(pq.Array(types)) + "::text[], " + c.arg(pq.Array(values)) + "::text[]))))")
	}
	if f.ProjectID != 0 {
		c.add("s.crash_project_id = " + c.arg(f.ProjectID))
	}
	if f.BuildID != 0 {
		c.add("s.build_id = " + c.arg(f.BuildID))
	}
	if f.Search != "" {
		pattern := c.arg("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Search) + "%")
		c.add("(s.name ilike " + pattern + " or s.release ilike " + pattern + ")")
	}
	return c.where()
}

// spellings are the identifiers that a text may stand for, of every type.
func spellings(text string) (types, values []string) {
	for _, t := range []symbol.IdentifierType{symbol.DebugID, symbol.CodeID, symbol.BuildID, symbol.MappingID, symbol.ScriptID, symbol.URL} {
		if id, ok := (symbol.Identifier{Type: t, Value: text}).Normalize(); ok {
			types, values = append(types, string(t)), append(values, id.Value)
		}
	}
	return types, values
}

// conditions collects what stands behind where, with its arguments.
type conditions struct {
	list []string
	args []any
}

func (c *conditions) arg(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

func (c *conditions) add(condition string) { c.list = append(c.list, condition) }

func (c *conditions) where() string {
	if len(c.list) == 0 {
		return ""
	}
	return " where " + strings.Join(c.list, " and ")
}
