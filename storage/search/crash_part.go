package search

import (
	"strings"

	"github.com/lib/pq"
)

// comments finds comments on crash groups by their text. They are shown with the group that
// theirs was merged into. A short text finds none: few comments begin with two letters that
// somebody looks for.
func (s *statement) comments(limit int) string {
	if s.short {
		return ""
	}
	s.found = append(s.found, "select t.id from crash_group_comments t where "+s.mine("t")+" and "+s.lowerLike("t.text", s.part))
	return s.sql(`select c.id::text as id, coalesce(g.root_id, g.id)::text as parent_id,
			regexp_replace(left(c.text, 10000), '\s+', ' ', 'g') as title, concat_ws(' · ', c.author, g.title) as detail,
			coalesce(c.updated_at, c.created_at) as updated_at
		from hit join crash_group_comments c on c.id = hit.id join crash_groups g on g.id = c.group_id`, "c.id desc", limit)
}

// spelled are the spellings of an identifier, or of its beginning, by the types that begin
// the index of identifiers.
func spelled(digits string) (types, begins []string) {
	debug := digits
	if at := min(len(digits), uuidDigits); at > 0 {
		debug = strings.ToUpper(digits[:at]) + digits[at:] // the age stands behind
	}
	dashed := ""
	for i, r := range digits[:min(len(digits), uuidDigits)] {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dashed += "-"
		}
		dashed += string(r)
	}
	return []string{"code_id", "build_id", "mapping_id", "mapping_id", "debug_id", "debugId"},
		[]string{digits, digits, digits, dashed, debug, dashed}
}

// symbols finds uploads of symbols by their name, the path of a file in an archive, their id,
// and the identifier that crashes ask for, or its beginning.
func (s *statement) symbols(limit int) string {
	s.byNumber("symbols", "")
	if s.hex != "" {
		types, begins := spelled(s.hex)
		// "g" stands behind all digits.
		s.exact = append(s.exact, "select f.symbol_id as id from unnest("+s.arg(pq.Array(types))+"::text[], "+s.arg(pq.Array(begins))+
			"::text[]) k(type, begins) join symbol_identifiers x on x.type = k.type and x.value >= k.begins and x.value < k.begins || 'g' and "+
			s.mine("x")+" join symbol_files f on f.id = x.symbol_file_id")
	}
	s.exact = append(s.exact, "select x.id from symbols x where "+s.mine("x")+
		" and x.given_id <> '' and lower(x.given_id) = lower("+s.arg(s.typed)+")")
	s.found = append(s.found, "select t.id from symbols t where "+s.mine("t")+" and "+s.lowerLike("t.name", s.pattern()))
	if !s.short {
		s.found = append(s.found, "select f.symbol_id as id from symbol_files f where "+s.mine("f")+" and f.path <> '' and "+
			s.lowerLike("f.path", s.part))
	}
	return s.sql(`select c.id::text as id, c.name as title, concat_ws(' · ', nullif(c.format, ''), nullif(c.release, ''), (
			select min(f.path) from symbol_files f where f.symbol_id = c.id and f.path <> '' and `+s.lowerLike("f.path", s.part)+`)) as detail,
		coalesce(c.indexed_at, c.created_at) as updated_at
		from hit join symbols c on c.id = hit.id`, "c.id desc", limit)
}

// byRun looks for the runs of test cases whose uuid, or that of one of whose jobs, the text is
// or begins.
func (s *statement) byRun() {
	s.byUUID("test_runs", leastDigits)
	if first, last, ok := s.uuids(leastDigits); ok {
		s.exact = append(s.exact, "select x.run_id as id from test_jobs x where x.id between "+s.arg(first)+" and "+
			s.arg(last)+" and "+s.mine("x"))
	}
}

// testRuns finds runs of test cases by their id.
func (s *statement) testRuns(limit int) string {
	s.byRun()
	return s.sql(`select c.id::text as id, c.case_id as parent_id, c.case_name as title,
			concat_ws(' · ', lower(c.state), nullif(c.build_name, '')) as detail, coalesce(c.finished_at, c.started_at, c.created_at) as updated_at
		from hit join test_runs c on c.id = hit.id`, "c.id desc", limit)
}

// suiteRuns finds runs of suites by their id.
func (s *statement) suiteRuns(limit int) string {
	s.byUUID("suite_runs", leastDigits)
	return s.sql(`select c.id::text as id, c.suite_id::text as parent_id, c.suite_name as title,
			concat_ws(' · ', lower(c.state), nullif(c.build_name, '')) as detail, coalesce(c.finished_at, c.started_at, c.created_at) as updated_at
		from hit join suite_runs c on c.id = hit.id`, "c.id desc", limit)
}
