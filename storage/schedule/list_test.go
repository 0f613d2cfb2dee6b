package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	a, b, unused := w.NewSuite(w.Org.Member.Writer, "a").ID, w.NewSuite(w.Org.Member.Writer, "b").ID, w.NewSuite(w.Org.Member.Writer, "c").ID
	theirs := w.NewSuite(w.Org.Neighbor.Writer, "theirs").ID
	var ids []uuid.UUID
	for i, row := range []struct {
		by account.Writer
		n  NewSchedule
	}{
		{w.Org.Member.Writer, NewSchedule{Name: "Smoke", Suites: []uuid.UUID{b, a}, Settings: w.daily()}},
		{w.Org.Member.Writer, NewSchedule{Name: "nightly", Suites: []uuid.UUID{a}}},
		{w.Org.Neighbor.Writer, NewSchedule{Name: "50%", Suites: []uuid.UUID{theirs}}},
	} {
		ids = append(ids, w.newSchedule(row.by, row.n).ID)
		w.Exec(`update test_schedules set created_at = $2 where id = $1`, ids[i], day(1+i))
	}
	rivals := w.newSchedule(w.Rival.Member.Writer, NewSchedule{Name: "Smoke", Suites: []uuid.UUID{w.NewSuite(w.Rival.Member.Writer, "s").ID}})
	for _, row := range []struct {
		f    Filter
		want []string
	}{
		{Filter{}, []string{"50%", "nightly", "Smoke"}},
		{Filter{Search: "SMOK"}, []string{"Smoke"}},
		{Filter{Search: "%"}, []string{"50%"}},
		{Filter{Search: "a\x00"}, nil},
		{Filter{IDs: ids[:2]}, []string{"nightly", "Smoke"}},
		{Filter{IDs: []uuid.UUID{rivals.ID}}, nil},
		{Filter{IDs: []uuid.UUID{}}, nil},
		{Filter{From: day(2)}, []string{"50%", "nightly"}},
		{Filter{To: day(2)}, []string{"Smoke"}},
		{Filter{User: &w.Org.Neighbor.UUID}, []string{"50%"}},
		{Filter{Team: &w.Org.Team.UUID}, []string{"nightly", "Smoke"}},
		{Filter{Team: &w.Rival.Team.UUID}, nil},
		{Filter{Suites: []uuid.UUID{a, b}}, []string{"nightly", "Smoke"}},
		{Filter{Suites: []uuid.UUID{b, theirs}}, []string{"50%", "Smoke"}},
		{Filter{Suites: []uuid.UUID{unused}}, nil},
		{Filter{Suites: rivals.SuiteIDs}, nil},
		{Filter{Suites: []uuid.UUID{}}, nil},
		{Filter{Suites: []uuid.UUID{a}, Search: "night", Team: &w.Org.Team.UUID}, []string{"nightly"}},
	} {
		row.f.OrganizationID, row.f.Page = w.Org.ID, storage.Page{Limit: 20}
		list, total, err := List(fixture.Context(t), w.DB, row.f)
		require.NoError(t, err)
		var names []string
		for i := range list {
			names = append(names, list[i].Name)
			require.Equal(t, w.readSchedule(list[i].ID), &list[i])
		}
		require.Equal(t, row.want, names, "%+v", row.f)
		require.Equal(t, len(row.want), total)
		for _, p := range []storage.Page{{}, {Offset: 10, Limit: 10}} {
			row.f.Page = p
			list, total, err = List(fixture.Context(t), w.DB, row.f)
			require.NoError(t, err)
			require.Empty(t, list)
			require.Equal(t, len(row.want), total)
		}
	}
	require.Equal(t, []uuid.UUID{b, a}, w.readSchedule(ids[0]).SuiteIDs)
}

// Pages stay quick when there are many schedules: nothing is done for each of
// them but for those of the page.
func TestListsOfManySchedules(t *testing.T) {
	t.Parallel()
	w := open(t)
	const n = 100_000
	few, many := w.NewSuite(w.Org.Member.Writer, "few").ID, w.NewSuite(w.Org.Member.Writer, "many").ID
	w.Exec(`insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, last_firing_id,
			next_run_at, creator_uuid, modifier_uuid, created_at)
		select lpad(to_hex(i), 32, '0')::uuid, $1, $2, case when i % 1000 = 7 then 'Pay by Voucher ' else 'Schedule ' end || i,
			'@daily', 'UTC', $3,
			'ENABLED', md5(i::text)::uuid, now() + i * interval '1 second', $3, $3, now() - i * interval '1 minute'
		from generate_series(1, $4::int) i`, w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, n)
	w.Exec(`insert into test_schedule_suites (schedule_id, suite_id, position)
		select id, $1, 0 from test_schedules order by id limit 5000`, many)
	w.Exec(`insert into test_schedule_suites (schedule_id, suite_id, position)
		select schedule_id, $1, 1 from test_schedule_suites join test_schedules on id = schedule_id where name like '%00'`, few)
	w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, state, firing_id)
		select last_firing_id, $1, $2, $3, 's', $4, 'b', 1, 'QUEUED', last_firing_id from test_schedules order by id limit 5000`,
		w.Org.ID, w.Org.Team.ID, many, w.Org.Member.UUID)
	w.Exec(`vacuum analyze test_schedules, test_schedule_suites, suite_runs`)
	newest := "Index Only Scan using test_schedules_newest on test_schedules c_1"
	for _, row := range []struct {
		f     Filter
		total int
		uses  []string
		last  string // of the newest name
	}{
		{Filter{}, n, []string{newest, "suite_runs_firing", "test_schedule_suites_pkey"}, "Schedule 1"},
		{Filter{Search: "VOUCHER"}, n / 1000, nil, "Pay by Voucher 7"},
		{Filter{Suites: []uuid.UUID{few}}, 50, []string{"test_schedule_suites_suite"}, "Schedule 100"},
		{Filter{Suites: []uuid.UUID{few, fixture.NoUUID}}, 50, []string{"test_schedule_suites_suite"}, "Schedule 100"},
	} {
		row.f.OrganizationID, row.f.Page = w.Org.ID, storage.Page{Limit: 20}
		query, args := SchedulePage(row.f)
		var lines []string
		require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain `+query, args...))
		plan := strings.Join(lines, "\n")
		for _, index := range row.uses {
			require.Contains(t, plan, index)
		}
		for _, table := range []string{"suite_runs", "test_schedule_suites"} {
			require.NotContains(t, plan, "Seq Scan on "+table)
		}
		list, total, err := List(fixture.Context(t), w.DB, row.f)
		require.NoError(t, err)
		require.Equal(t, row.total, total)
		require.Len(t, list, 20)
		require.Equal(t, row.last, list[0].Name)
		require.Equal(t, Running, list[0].State)
		require.Equal(t, many, list[0].SuiteIDs[0])
	}
}
