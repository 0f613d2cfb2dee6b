package authoring

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/slipway-qa/slipway/storage"
)

// matching collects the conditions of a list on the rows of c. Values are
// parameters, never text of the statement.
type matching struct {
	where []string
	args  []any
	// narrow: an index or a filter picks some rows out of the organization's. Then
	// the matching ones are read once and counted, sorted and cut in memory. A page
	// of all rows is instead read from the index in its order, and the count is an
	// index-only scan.
	narrow bool
}

func matchingOf(organizationID int64) *matching {
	m := &matching{}
	m.and("c.organization_id = " + m.arg(organizationID))
	return m
}

func (m *matching) arg(value any) string {
	m.args = append(m.args, value)
	return "$" + strconv.Itoa(len(m.args))
}

func (m *matching) and(condition string) { m.where = append(m.where, condition) }

func (m *matching) conditions() string { return strings.Join(m.where, " and ") }

// created bounds the time of creation; to is exclusive.
func (m *matching) created(from, to time.Time) {
	if !from.IsZero() {
		m.and("c.created_at >= " + m.arg(from) + "::timestamptz")
	}
	if !to.IsZero() {
		m.and("c.created_at < " + m.arg(to) + "::timestamptz")
	}
}

// by selects what a user made and what belongs to a team of the organization.
func (m *matching) by(user, team *uuid.UUID) {
	if user != nil {
		m.narrow = true
		m.and("c.creator_uuid = " + m.arg(*user) + "::uuid")
	}
	if team != nil {
		m.narrow = true
		m.and("c.team_id = (select id from teams where organization_id = $1 and uuid = " + m.arg(*team) + "::uuid)")
	}
}

// named selects names with a part, in any case. The expression is that of the
// trigram index, so that both sides fold case by the rules of the database.
func (m *matching) named(part string) {
	switch {
	case part == "":
	case !utf8.ValidString(part) || strings.ContainsRune(part, 0) || utf8.RuneCountInString(part) > MaxName:
		m.narrow = true
		m.and("false") // no name has such a part
	default:
		m.narrow = true
		m.and("lower(c.name) like lower(" + m.arg("%"+likeEscapes.Replace(part)+"%") + ")")
	}
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// total counts the matching rows of a table.
func (m *matching) total(table string) string {
	return "select count(*) from " + table + " c where " + m.conditions()
}

// page gives the statement of a page, newest first, each row with the number of
// all that match as total, and its arguments. tables are joined to the rows of
// the page only.
func (m *matching) page(table, columns, tables string, p storage.Page) (string, []any) {
	how := "not materialized"
	if m.narrow {
		how = "materialized"
	}
	n := len(m.args)
	args := append(m.args[:n:n], p.RowLimit(), p.RowOffset())
	return `
with matching as ` + how + ` (select c.id, c.created_at from ` + table + ` c where ` + m.conditions() + `),
page as (
	select id from matching order by created_at desc, id desc
	limit $` + strconv.Itoa(n+1) + ` offset $` + strconv.Itoa(n+2) + `
)
select (select count(*) from matching) as total, ` + columns + `
from page join ` + table + ` c on c.id = page.id` + tables + `
order by c.created_at desc, c.id desc`, args
}
