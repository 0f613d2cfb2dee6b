package installpage_test

import (
	"encoding/json"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
)

// series is an app of five builds. Ann is in the groups one, which is granted the
// builds 0 and 2, and two, which is granted build 2; bob is in three, which is
// granted nothing.
type series struct {
	*fixture.Fixture
	project            int64
	builds             []int64
	ann, bob, stranger int64
}

func newSeries(t *testing.T) *series {
	s := &series{Fixture: fixture.New(t)}
	tester := func(name string) int64 { return s.Org.NewUser(name, account.Tester).ID }
	s.ann, s.bob = tester("ann"), tester("bob")
	s.stranger = s.Rival.Owner.ID
	one, two := s.Group("one", s.ann), s.Group("two", s.ann)
	s.Group("three", s.bob)
	for range 5 {
		up := s.App("com.example.app")
		s.project, s.builds = up.Project.ID, append(s.builds, up.Build.ID)
	}
	// An app that ann may have does not open another one.
	elsewhere := s.App("com.example.elsewhere")
	s.Exec(`insert into build_groups (build_id, tester_group_id) values ($1, $4), ($2, $4), ($2, $5), ($3, $4)`,
		s.builds[0], s.builds[2], elsewhere.Build.ID, one, two)
	return s
}

// gets lists the numbers of the builds that a user is shown.
func (s *series) gets(user int64, open bool) []int {
	s.T.Helper()
	list, err := installpage.LatestBuildsFor(s.T.Context(), s.DB, s.project, user, open, 3)
	require.NoError(s.T, err)
	numbers := []int{}
	for _, b := range list {
		for i, id := range s.builds {
			if id == b.ID {
				numbers = append(numbers, i)
			}
		}
		if !open {
			a, err := installpage.BuildAccess(s.T.Context(), s.DB, b.ID, user)
			require.NoError(s.T, err)
			require.True(s.T, a.Allowed, "build %d", b.ID)
		}
	}
	require.Len(s.T, numbers, len(list), "builds of another app")
	return numbers
}

// reset takes back what a case has changed.
func (s *series) reset() {
	s.T.Helper()
	s.Exec(`update builds set state = 'enabled', all_testers = false, deleted_at = null`)
	s.Exec(`update projects set all_testers = false, deleted_at = null`)
	s.Exec(`update memberships set blocked_at = null`)
	s.Exec(`delete from project_groups`)
}

func (s *series) state(state distribution.State, numbers ...int) {
	s.T.Helper()
	for _, i := range numbers {
		s.Exec(`update builds set state = $1 where id = $2`, string(state), s.builds[i])
	}
}

func TestLatestBuildsFor(t *testing.T) {
	t.Parallel()
	s := newSeries(t)
	none, all := []int{}, []int{4, 3, 2}
	for name, tc := range map[string]struct {
		change             func(*series)
		ann, bob, dev, any []int // any: nobody signed in, on an open page
	}{
		"older builds granted": {func(*series) {}, []int{2, 0}, none, all, all},
		"project granted": {func(s *series) {
			s.Exec(`insert into project_groups (project_id, tester_group_id) select $1, id from tester_groups where name = 'three'`, s.project)
		}, []int{2, 0}, all, all, all},
		"project to all testers": {func(s *series) { s.Exec(`update projects set all_testers = true`) }, all, all, all, all},
		"one build to all testers": {func(s *series) { s.Exec(`update builds set all_testers = true where id = $1`, s.builds[1]) },
			[]int{2, 1, 0}, []int{1}, all, all},
		"more than asked for": {func(s *series) {
			s.Exec(`update builds set all_testers = true where id = any($1)`, pq.Array(s.builds[:4]))
		},
			[]int{3, 2, 1}, []int{3, 2, 1}, all, all},
		"newest disabled":         {func(s *series) { s.state(distribution.Disabled, 4) }, []int{2, 0}, none, []int{3, 2, 1}, []int{3, 2, 1}},
		"newest granted disabled": {func(s *series) { s.state(distribution.Disabled, 2) }, []int{0}, none, []int{4, 3, 1}, []int{4, 3, 1}},
		"all granted expired": {func(s *series) { s.state(distribution.CertificateExpired, 0, 2) },
			[]int{2}, none, []int{4, 3, 1}, []int{4, 3, 1}},
		"none enabled": {func(s *series) { s.state(distribution.Invalid, 0, 4); s.state(distribution.Disabled, 1, 2, 3) },
			[]int{2}, none, []int{4}, []int{4}},
		"disabled for all testers": {func(s *series) {
			s.state(distribution.Disabled, 3)
			s.Exec(`update builds set all_testers = true where id = $1`, s.builds[3])
		}, []int{2, 0}, []int{3}, []int{4, 2, 1}, []int{4, 2, 1}},
		"deleted": {func(s *series) {
			s.Exec(`update builds set deleted_at = now() where id = any($1)`, pq.Array(s.builds[2:]))
		},
			[]int{0}, none, []int{1, 0}, []int{1, 0}},
		"project deleted": {func(s *series) { s.Exec(`update projects set deleted_at = now(), all_testers = true`) }, none, none, none, none},
		"blocked": {func(s *series) {
			s.Exec(`update projects set all_testers = true`)
			s.Exec(`update memberships set blocked_at = now() where user_id in ($1, $2)`, s.ann, s.Org.Member.ID)
		}, none, all, none, all},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			s.reset()
			tc.change(s)
			require.Equal(t, tc.ann, s.gets(s.ann, false), "ann")
			require.Equal(t, tc.bob, s.gets(s.bob, false), "bob")
			require.Equal(t, tc.dev, s.gets(s.Org.Member.ID, false), "above tester")
			for _, user := range []int64{0, s.bob, s.stranger, 999} {
				require.Equal(t, tc.any, s.gets(user, true), "open to %d", user)
			}
			require.Equal(t, none, s.gets(s.stranger, false), "owner of another organization")
			require.Equal(t, none, s.gets(0, false), "nobody")
		})
	}
}

// Pages of an app with very many builds read few of them, whoever comes.
func TestLatestBuildsReadLittle(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	const builds = 5000
	project := f.ManyBuilds(builds)
	tester := func(name string) int64 { return f.Org.NewUser(name, account.Tester).ID }
	few, none, every := tester("few"), tester("none"), tester("every")
	f.Exec(`insert into build_groups (build_id, tester_group_id) select id, $1 from builds order by id limit 3`, f.Group("few", few))
	f.Exec(`insert into build_groups (build_id, tester_group_id) select id, $1 from builds`, f.Group("every", every))
	for _, step := range []struct{ name, prepare string }{
		{"no statistics", `select 1`},
		{"plain", `vacuum analyze builds, build_groups`},
		{"one to all testers", `update builds set all_testers = true where id = (select min(id) from builds)`},
		{"all but one disabled", `update builds set state = 'disabled', all_testers = true where id <> (select min(id) from builds)`},
		{"all but one disabled", `vacuum analyze builds`},
	} {
		f.Exec(step.prepare)
		for user, given := range map[int64]int{0: 0, f.Org.Member.ID: 0, none: 0, few: 3, every: builds} {
			for _, states := range [][]string{{"enabled"}, {"disabled", "certificate_expired", "invalid"}} {
				if given == builds && (step.name == "all but one disabled") == (states[0] == "enabled") {
					continue // the one that has to look through all grants
				}
				read := read(f, installpage.LatestQuery(), project, user, user == 0, pq.Array(states), 10)
				require.Less(t, read, 250, "%s: blocks for user %d with %d grants, %v", step.name, user, given, states)
			}
		}
	}
}

// read is the number of blocks that a query reads.
func read(f *fixture.Fixture, query string, args ...any) int {
	f.T.Helper()
	var doc []byte
	require.NoError(f.T, f.DB.GetContext(f.T.Context(), &doc, `explain (analyze, buffers, format json) `+query, args...))
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	require.NoError(f.T, json.Unmarshal(doc, &plans))
	return plans[0].Plan.Hit + plans[0].Plan.Read
}
