package authoring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// thousands returns the organization so many cases, of which one in a thousand is
// about vouchers. Building the trigram index at the end is much faster.
func (w *room) thousands(n int) {
	w.T.Helper()
	var index string
	require.NoError(w.T, w.DB.GetContext(fixture.Context(w.T), &index, `select indexdef from pg_indexes where indexname = 'test_cases_name'`))
	w.Exec(`drop index test_cases_name`)
	w.Exec(`insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid, created_at)
		select lpad(to_hex(i), 24, '0'), $1, $2, case when i % 1000 = 7 then 'Pay by Voucher ' else 'Case ' end || i,
			jsonb_build_object('testUrl', 'https://shop.example.com/', 'note', repeat('x', 200)), true, $3, $3, now() - i * interval '1 minute'
		from generate_series(1, $4::int) i`, w.Org.ID, w.Org.Team.ID, w.Org.Member.UUID, n)
	w.Exec(index)
}

// A search by name and the pages of all cases stay quick when there are many.
func TestListsOfManyCases(t *testing.T) {
	t.Parallel()
	w := open(t)
	const n = 100_000
	w.thousands(n)
	suite := w.NewSuite(w.Org.Member.Writer, "s").ID
	w.Exec(`update test_cases set suite_id = $1 where id <= lpad(to_hex(50), 24, '0')`, suite)
	w.Exec(`update test_case_results set state = 'FAILED', run_at = now()
		where case_id between lpad(to_hex(101), 24, '0') and lpad(to_hex(130), 24, '0')`)
	w.Exec(`update test_case_results set run_at = now() + interval '1 minute' where case_id = lpad(to_hex(110), 24, '0')`)
	w.Exec(`update test_cases set tags = '{shop}' where id between lpad(to_hex(201), 24, '0') and lpad(to_hex(240), 24, '0')`)
	w.Exec(`insert into test_case_texts (case_id, organization_id, text)
		select id, organization_id, case when id between lpad(to_hex(301), 24, '0')
			and lpad(to_hex(325), 24, '0') then 'Click on the shirt' else name end
		from test_cases where id <= lpad(to_hex(20000), 24, '0') on conflict (case_id) do update set text = excluded.text`)
	w.Exec(`vacuum analyze test_cases, test_case_results, test_case_texts`)
	for _, row := range []struct {
		f        authoring.CaseFilter
		total    int
		uses     []string
		mustNot  string
		newestIs string
	}{
		{authoring.CaseFilter{Search: "VOUCHER"}, n / 1000, []string{"Bitmap Index Scan on test_cases_name"}, "Seq Scan on test_cases", "7"},
		{authoring.CaseFilter{Search: "by voucher", Team: &w.Org.Team.UUID, User: &w.Org.Member.UUID,
			From: time.Now().Add(-100 * 24 * time.Hour)}, n / 1000,
			[]string{"Bitmap Index Scan on test_cases_name"}, "Seq Scan on test_cases", "7"},
		// The page comes from the index alone. How to count is left to the planner.
		{authoring.CaseFilter{}, n, []string{"Index Only Scan using test_cases_newest on test_cases c_1"}, "CTE Scan", "1"},
		{authoring.CaseFilter{Suites: []uuid.UUID{suite}}, 50, []string{"test_cases_suite"}, "Seq Scan on test_cases", "1"},
		{authoring.CaseFilter{LastStatus: "FAILED"}, 30, []string{"test_case_results_state"}, "Seq Scan on test_case", "65"},
		{authoring.CaseFilter{Tags: []string{"shop"}}, 40, []string{"test_cases_tags"}, "Seq Scan on test_cases", "c9"},
		{authoring.CaseFilter{Content: "THE SHIRT"}, 25, []string{"test_case_texts_text"}, "Seq Scan on test_case", "12d"},
		{authoring.CaseFilter{ByLastRun: true}, n, []string{"test_case_results_newest"}, "Seq Scan on test_case_results", "6e"},
		{authoring.CaseFilter{ByLastRun: true, LastStatus: "FAILED"}, 30, []string{"test_case_results_state"}, "Seq Scan on test_case", "6e"},
	} {
		row.f.OrganizationID, row.f.Page = w.Org.ID, storage.Page{Limit: 20}
		query, args := authoring.CasePage(row.f)
		var lines []string
		require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain `+query, args...))
		plan := strings.Join(lines, "\n")
		for _, index := range row.uses {
			require.Contains(t, plan, index)
		}
		require.NotContains(t, plan, row.mustNot)

		list, total, err := authoring.Cases(fixture.Context(t), w.DB, row.f)
		require.NoError(t, err)
		require.Equal(t, row.total, total)
		require.Len(t, list, 20)
		require.Equal(t, row.newestIs, strings.TrimLeft(list[0].ID, "0"))
	}
}
