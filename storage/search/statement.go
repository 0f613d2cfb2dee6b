package search

import (
	"fmt"
	"strings"
)

const (
	// reach is how many rows are read of those that a text finds.
	reach = 1000
	// newest is how many rows are looked at of kinds that have no index of their texts,
	// since organizations have few of them.
	newest = 10_000
	// newestProjects is the same of crash projects, each of which has a bounded number of
	// versions.
	newestProjects = 200
)

// statement collects what finds the rows of one kind.
type statement struct {
	text
	organization int64
	offset       int
	args         []any
	exact        []string // selects of ids of what is named by its id
	found        []string // selects of ids of what has the text
}

func newStatement(organization int64, t text) *statement {
	return &statement{text: t, organization: organization}
}

func (s *statement) arg(value any) string {
	s.args = append(s.args, value)
	return fmt.Sprintf("$%d", len(s.args))
}

// mine is the condition that rows belong to the organization.
func (s *statement) mine(table string) string {
	return table + ".organization_id = " + s.arg(s.organization)
}

// lowerLike is the condition that an expression in lower case is like a pattern. Both sides
// fold case by the rules of the database.
func (s *statement) lowerLike(expression, pattern string) string {
	return "lower(" + expression + ") like lower(" + s.arg(pattern) + ")"
}

// byNumber looks for the row whose id by number the text is.
func (s *statement) byNumber(table, where string) {
	if s.number != 0 {
		s.exact = append(s.exact, "select x.id from "+table+" x where x.id = "+s.arg(s.number)+" and "+s.mine("x")+where)
	}
}

// byUUID looks for rows whose uuid the text is or begins.
func (s *statement) byUUID(table string, least int) {
	if first, last, ok := s.uuids(least); ok {
		s.exact = append(s.exact, "select x.id from "+table+" x where x.id between "+s.arg(first)+" and "+s.arg(last)+" and "+s.mine("x"))
	}
}

// sql is the statement: show selects from hit, which has the columns id and exact. "" when
// nothing can be found. The rows that have the text are a materialized part, so that the
// database plans to read them all, which an index does best, and stops when there are enough.
func (s *statement) sql(show, order string, limit int) string {
	var with, hits []string
	for _, exact := range s.exact {
		hits = append(hits, "(select id, true as exact from ("+exact+") named limit "+s.arg(reach)+")")
	}
	for i, found := range s.found {
		with = append(with, fmt.Sprintf("found%d as materialized (%s), ", i, found))
		hits = append(hits, fmt.Sprintf("(select id, false as exact from found%d limit %s)", i, s.arg(reach)))
	}
	if len(hits) == 0 {
		return ""
	}
	return "with " + strings.Join(with, "") + "hit as (select id, bool_or(exact) as exact from (" + strings.Join(hits, " union all ") +
		") hits group by id) " + show + " order by hit.exact desc, " + order + s.page(limit)
}

// page is the end of a statement: so many results behind the offset.
func (s *statement) page(limit int) string {
	return " limit " + s.arg(limit) + " offset " + s.arg(s.offset)
}

// of returns the statement that finds results of a kind, "" when there can be none.
func (s *statement) of(kind Kind, limit int) string {
	return map[Kind]func(int) string{
		CrashGroup: s.crashGroups, Crash: s.crashes, Version: s.versions, App: s.apps, Build: s.builds, TestCase: s.testCases,
		TestSuite: s.suites, Schedule: s.schedules, Tester: s.testers, Task: s.tasks, Webhook: s.webhooks,
		CrashComment: s.comments, Symbol: s.symbols, TestRun: s.testRuns, SuiteRun: s.suiteRuns, TesterGroup: s.testerGroups,
		Team: s.teams, Device: s.devices,
	}[kind](limit)
}

func (s *statement) apps(limit int) string {
	s.byNumber("projects", " and x.deleted_at is null")
	s.exact = append(s.exact, "select x.id from projects x where "+s.mine("x")+" and x.package_name = "+s.arg(s.typed)+
		" and x.deleted_at is null")
	s.found = append(s.found, "select p.id from projects p where "+s.mine("p")+" and p.deleted_at is null and "+
		s.lowerLike(`p.name || E'\n' || p.package_name`, s.pattern()))
	return s.sql(`select p.id::text as id, p.name as title,
		concat_ws(' · ', nullif(p.package_name, ''), nullif(p.platform, '')) as detail, p.updated_at
		from hit join projects p on p.id = hit.id`, "p.id desc", limit)
}

// builds finds builds by the beginning of the version: a part of one is in most of them.
func (s *statement) builds(limit int) string {
	s.byNumber("builds", " and x.deleted_at is null")
	whole := s.arg(s.typed)
	s.exact = append(s.exact,
		"select x.id from builds x where x.token = "+whole+" and "+s.mine("x")+" and x.deleted_at is null",
		"select x.id from builds x where "+s.mine("x")+" and x.file_name = "+whole+" and x.deleted_at is null")
	s.found = append(s.found, "select b.id from builds b where "+s.mine("b")+" and b.deleted_at is null and "+
		s.lowerLike("b.version", s.begins))
	return s.sql(`select b.id::text as id, concat_ws(' ', b.app_name, nullif(b.version, ''),
			nullif('(' || b.version_code || ')', '()')) as title, concat_ws(' · ', b.file_name, b.platform, b.token) as detail, b.updated_at from hit
			join builds b on b.id = hit.id`, "b.id desc", limit)
}

// testers are named by their membership, as in the list of testers.
func (s *statement) testers(limit int) string {
	s.byNumber("memberships", " and x.role = 'tester'")
	s.found = append(s.found, "select m.id from memberships m where "+s.mine("m")+" and m.role = 'tester' and m.search like lower("+
		s.arg(s.pattern())+")")
	return s.sql(`select m.id::text as id, coalesce(u.email, u.username) as title, u.name as detail,
		coalesce(m.last_login_at, m.created_at) as updated_at
		from hit join memberships m on m.id = hit.id join users u on u.id = m.user_id`, "m.id desc", limit)
}

func (s *statement) tasks(limit int) string {
	first, last, ok := s.uuids(leastDigits)
	if !ok {
		return ""
	}
	mine := ""
	if s.organization != 0 {
		mine = " and " + s.mine("t")
	}
	return "select t.id::text as id, t.kind as title, t.state as detail, coalesce(t.finished_at, t.started_at, t.created_at) as updated_at " +
		"from tasks t where t.id between " + s.arg(first) + " and " +
		s.arg(last) + mine + " order by t.id desc" + s.page(limit)
}

func (s *statement) webhooks(limit int) string {
	s.byNumber("webhooks", "")
	s.found = append(s.found, "select w.id from (select id, name, url from webhooks x where "+s.mine("x")+" order by id desc limit "+
		s.arg(newest)+") w where "+s.lowerLike("w.name", s.pattern())+" or "+s.lowerLike("w.url", s.pattern()))
	return s.sql(`select w.id::text as id, w.name as title, w.url as detail, w.updated_at from hit join webhooks w on w.id = hit.id`,
		"w.id desc", limit)
}
