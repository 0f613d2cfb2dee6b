package search

import "fmt"

// crashGroups finds groups by title, culprit, classifier, functions and messages, by the indexes of
// their list, in which the organization stands before the text. A group that was merged into
// another is shown as that.
func (s *statement) crashGroups(limit int) string {
	s.byNumber("crash_groups", "")
	if s.hex != "" {
		first, last := span(s.hex, keyDigits)
		s.exact = append(s.exact,
			"select k.group_id as id from crash_projects x join crash_group_keys k on k.crash_project_id = x.id and k.key between "+
				s.arg(first)+" and "+s.arg(last)+" where "+s.mine("x"))
	}
	indexed := s.arg(fmt.Sprintf("%d %s", s.organization, s.pattern()))
	s.found = append(s.found, "select t.group_id as id from crash_group_titles t where "+s.mine("t")+
		" and (t.organization_id::text || ' ' || t.text) ilike "+indexed)
	part := s.arg(s.part)
	if !s.short {
		s.found = append(s.found, "select m.group_id as id from crash_group_messages m where "+s.mine("m")+
			" and (m.organization_id::text || ' ' || m.message) ilike "+indexed)
	}
	return s.sql(`select g.id::text as id, g.title, coalesce(
			case when g.title ilike `+part+` then null else (select m.message from crash_group_messages m
				where m.group_id = g.id and m.message ilike `+part+` order by m.count desc limit 1) end,
			case when concat_ws(E'\n', g.title, g.culprit, g.classifier) ilike `+part+` then null else (
				select l.line from crash_group_titles t cross join unnest(string_to_array(t.text, E'\n')) with ordinality l(line, n)
				where t.group_id = g.id and l.line ilike `+part+` order by l.n limit 1) end,
			concat_ws(' · ', nullif(g.culprit, ''), nullif(g.classifier, ''))) as detail, g.last_seen as updated_at
		from (select coalesce(p.root_id, p.id) as id, bool_or(hit.exact) as exact from hit join crash_groups p on p.id = hit.id group by 1) hit
		join crash_groups g on g.id = hit.id`, "g.last_seen desc, g.id desc", limit)
}

// crashes finds reports by their id or the uuid that their client gave them. There is a
// branch for each of the partial indexes of uuids.
func (s *statement) crashes(limit int) string {
	s.byUUID("crashes", timeDigits)
	if first, last, ok := s.uuids(leastDigits); ok {
		of := "select u.crash_id as id from crash_projects x join crash_uuids u on u.crash_project_id = x.id and u.uuid between " +
			s.arg(first) + " and " + s.arg(last) + " where " + s.mine("x")
		s.exact = append(s.exact, of+" and not u.conflict", of+" and u.conflict")
	}
	return s.sql(`select c.id::text as id, coalesce(nullif(c.message, ''), nullif(c.classifier, ''), c.format) as title,
			concat_ws(' · ', nullif(c.classifier, ''), nullif(c.version, ''), c.uuid::text) as detail, c.received_at as updated_at
		from hit join crashes c on c.id = hit.id and `+s.mine("c"), "c.received_at desc, c.id desc", limit)
}

// versions finds versions of applications that crashes and sessions named. A version has no
// id: it is named by itself and its crash project.
func (s *statement) versions(limit int) string {
	return `select v.version as id, p.id as crash_project_id, v.version as title, p.name as detail, v.last_seen as updated_at
		from (select x.id, x.name from crash_projects x where ` + s.mine("x") + ` order by x.id desc limit ` + s.arg(newestProjects) + `) p
		join crash_versions v on v.crash_project_id = p.id and ` + s.lowerLike("v.version", s.pattern()) + `
		order by lower(v.version) = lower(` + s.arg(s.typed) + `) desc, v.last_seen desc, v.version, p.id` + s.page(limit)
}
