package authoring

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Conditions collects the conditions of a list on the rows of c. Values are
// parameters, never text of the statement.
type Conditions struct {
	where []string
	Args  []any
	// narrow: an index or a filter picks some rows out of the organization's. Then
	// the matching ones are read once and counted, sorted and cut in memory. A page
	// of all rows is instead read from the index in its order, and the count is an
	// index-only scan.
	Narrow bool
}

// ConditionsOf returns the condition that the rows are an organization's, which is parameter 1.
func ConditionsOf(organizationID int64) *Conditions {
	m := &Conditions{}
	m.And("c.organization_id = " + m.Arg(organizationID))
	return m
}

// Arg adds a parameter and returns the text that stands for it.
func (m *Conditions) Arg(value any) string {
	m.Args = append(m.Args, value)
	return "$" + strconv.Itoa(len(m.Args))
}

// And adds a condition.
func (m *Conditions) And(condition string) { m.where = append(m.where, condition) }

// Filtered reports whether there are conditions besides that on the organization.
func (m *Conditions) Filtered() bool { return len(m.where) > 1 }

// Where returns all conditions as the text of a where clause.
func (m *Conditions) Where() string { return strings.Join(m.where, " and ") }

// Created bounds the time of creation; to is exclusive.
func (m *Conditions) Created(from, to time.Time) {
	if !from.IsZero() {
		m.And("c.created_at >= " + m.Arg(from) + "::timestamptz")
	}
	if !to.IsZero() {
		m.And("c.created_at < " + m.Arg(to) + "::timestamptz")
	}
}

// By selects what a user made and what belongs to a team of the organization.
func (m *Conditions) By(user, team *uuid.UUID) {
	if user != nil {
		m.Narrow = true
		m.And("c.creator_uuid = " + m.Arg(*user) + "::uuid")
	}
	if team != nil {
		m.Narrow = true
		m.And("c.team_id = (select id from teams where organization_id = $1 and uuid = " + m.Arg(*team) + "::uuid)")
	}
}

// Tagged selects what has all of the tags; none selects all.
func (m *Conditions) Tagged(tags []string) {
	if len(tags) > 0 {
		m.Narrow = true
		m.And("c.tags @> " + m.Arg(pq.Array(tags)) + "::text[]")
	}
}

// Named selects names with a part, in any case. The expression is that of the
// trigram index, so that both sides fold case by the rules of the database.
func (m *Conditions) Named(part string) {
	switch {
	case part == "":
	case !utf8.ValidString(part) || strings.ContainsRune(part, 0) || utf8.RuneCountInString(part) > MaxName:
		m.Narrow = true
		m.And("false") // no name has such a part
	default:
		m.Narrow = true
		m.And("lower(c.name) like lower(" + m.Arg("%"+likeEscapes.Replace(part)+"%") + ")")
	}
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Total counts the matching rows of a table.
func (m *Conditions) Total(table string) string {
	return "select count(*) from " + table + " c where " + m.Where()
}

// Page returns the statement of a page, newest first, each row with the number of
// all that match as total, and its arguments. tables are joined to the rows of
// the page only.
func (m *Conditions) Page(table, columns, tables string, p storage.Page) (string, []any) {
	how := "not materialized"
	if m.Narrow {
		how = "materialized"
	}
	n := len(m.Args)
	args := append(m.Args[:n:n], p.RowLimit(), p.RowOffset())
	return `
with matching as ` + how + ` (select c.id, c.created_at from ` + table + ` c where ` + m.Where() + `),
page as (
	select id from matching order by created_at desc, id desc
	limit $` + strconv.Itoa(n+1) + ` offset $` + strconv.Itoa(n+2) + `
)
select (select count(*) from matching) as total, ` + columns + `
from page join ` + table + ` c on c.id = page.id` + tables + `
order by c.created_at desc, c.id desc`, args
}
