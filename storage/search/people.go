package search

// testerGroups finds groups of testers by any part of their name.
func (s *statement) testerGroups(limit int) string {
	s.byNumber("tester_groups", "")
	s.found = append(s.found, "select t.id from tester_groups t where "+s.mine("t")+" and "+s.lowerLike("t.name", s.pattern()))
	return s.sql(`select c.id::text as id, c.name as title, coalesce(t.name, '') as detail, c.updated_at
		from hit join tester_groups c on c.id = hit.id left join teams t on t.id = c.team_id`, "c.id desc", limit)
}

// teams finds teams by any part of their name, among the first by name: an organization has
// some hundred at most.
func (s *statement) teams(limit int) string {
	s.byNumber("teams", "")
	s.byTeam()
	s.found = append(s.found, "select n.id from (select id, name from teams x where "+s.mine("x")+" order by name limit "+s.arg(newest)+
		") n where "+s.lowerLike("n.name", s.pattern()))
	return s.sql(`select c.id::text as id, c.name as title, '' as detail, c.created_at as updated_at from hit join teams c on c.id = hit.id`,
		"c.id desc", limit)
}

// byTeam looks for the team whose uuid, which the interface for tests has, the text is or
// begins.
func (s *statement) byTeam() {
	if first, last, ok := s.uuids(leastDigits); ok {
		s.exact = append(s.exact, "select x.id from teams x where x.uuid between "+s.arg(first)+" and "+s.arg(last)+" and "+s.mine("x"))
	}
}

// devices finds devices of testers by any part of their name or UDID.
func (s *statement) devices(limit int) string {
	s.byNumber("tester_devices", "")
	s.found = append(s.found, "select t.id from tester_devices t where "+s.mine("t")+" and "+
		s.lowerLike(`t.udid || E'\n' || t.name`, s.pattern()))
	return s.sql(`select c.id::text as id, coalesce(nullif(c.name, ''), nullif(c.product, ''), c.udid) as title,
		concat_ws(' · ', c.udid, coalesce(u.email, u.username)) as detail, c.updated_at
		from hit join tester_devices c on c.id = hit.id join users u on u.id = c.user_id`, "c.id desc", limit)
}
