package search

import "strings"

// testCases finds cases by what test_case_texts has of them. The detail is the first line
// with the text behind the name, else the tags.
func (s *statement) testCases(limit int) string {
	if s.hex != "" && len(s.hex) <= caseDigits {
		rest := caseDigits - len(s.hex)
		s.exact = append(s.exact, "select x.id from test_cases x where x.id between "+s.arg(s.hex+strings.Repeat("0", rest))+" and "+
			s.arg(s.hex+strings.Repeat("f", rest))+" and "+s.mine("x"))
	}
	s.found = append(s.found, "select t.case_id as id from test_case_texts t where "+s.mine("t")+" and "+s.lowerLike("t.text", s.pattern()))
	return s.sql(`select c.id, c.name as title, coalesce(
			(select l.line from test_case_texts t cross join unnest(string_to_array(t.text, E'\n')) with ordinality l(line, n)
				where t.case_id = c.id and l.n > 1 and `+s.lowerLike("l.line", s.part)+` order by l.n limit 1),
			array_to_string(c.tags, ', ')) as detail, c.updated_at
		from hit join test_cases c on c.id = hit.id`, "c.created_at desc, c.id desc", limit)
}

func (s *statement) suites(limit int) string {
	s.byUUID("test_suites", leastDigits)
	s.found = append(s.found, "select x.id from test_suites x where "+s.mine("x")+" and "+s.lowerLike("x.name", s.pattern()))
	return s.sql(`select c.id::text as id, c.name as title, array_to_string(c.tags, ', ') as detail, c.updated_at
		from hit join test_suites c on c.id = hit.id`, "c.created_at desc, c.id desc", limit)
}

// schedules looks at the newest: no index has their names, for each firing writes the row.
func (s *statement) schedules(limit int) string {
	s.byUUID("test_schedules", leastDigits)
	s.found = append(s.found, "select n.id from (select id, name from test_schedules x where "+s.mine("x")+
		" order by created_at desc, id desc limit "+
		s.arg(newest)+") n where "+s.lowerLike("n.name", s.pattern()))
	return s.sql(`select c.id::text as id, c.name as title, concat_ws(' · ', lower(c.state), c.cron, c.timezone) as detail, c.updated_at
		from hit join test_schedules c on c.id = hit.id`, "c.created_at desc, c.id desc", limit)
}
