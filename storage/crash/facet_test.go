package crash_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// recordKnown records with the memory of the store, as the worker does.
func (r *room) recordKnown(crashes ...crash.Crash) {
	r.T.Helper()
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		return r.Store.Record(r.T.Context(), tx, r.Org.ID, crashes)
	})
	r.Store.Committed(crashes)
}

// of is a crash of a key with attributes.
func (r *room) of(key, attributes string) crash.Crash {
	return r.Made(func(c *crash.Crash) { c.Group, c.Attributes = crashtest.Grouping(key), attributes })
}

// having lists the groups with a report that carries the attributes.
func (r *room) having(pairs ...string) string {
	r.T.Helper()
	var filters []condition.Attribute
	for i := 0; i < len(pairs); i += 2 {
		filters = append(filters, condition.Attribute{Key: pairs[i], Value: pairs[i+1]})
	}
	names, _ := r.Titles(reading.GroupFilter{Attributes: filters, Sort: reading.SortFirstSeen, Ascending: true})
	list := strings.Split(names, ",")
	slices.Sort(list)
	return strings.Join(list, ",")
}

// noReports takes the attributes from the crashes: what is found then is in the facets.
func (r *room) noReports() {
	r.T.Helper()
	_, err := r.DB.ExecContext(r.T.Context(), `update crashes set attributes = '{}'`)
	require.NoError(r.T, err)
}

func TestFacetsFindGroupsWithoutReports(t *testing.T) {
	t.Parallel()
	r := open(t)
	long := strings.Repeat("v", condition.MaxAttributeValue+1)
	r.recordKnown(r.of("a", `{"os":"Linux","n":1,"ok":true,"q":"say \"hi\"\u00e9","none":null}`), r.of("b", `{ "os" : "Windows", "n" : "1" }`),
		r.of("c", fmt.Sprintf(`{"os":"Linux","long":%q}`, condition.IndexedValue(long))))
	r.recordKnown(r.of("b", `{"os":"Linux","n":10e-1}`), r.of("a", `{"os":"Linux"}`))
	r.noReports()
	for _, c := range []struct{ key, value, want string }{
		{"os", "Linux", "a,b,c"}, {"os", "Windows", "b"}, {"os", "linux", ""}, {"n", "1", "a,b"}, {"n", "1.0", "a,b"}, {"n", "2", ""},
		{"ok", "true", "a"}, {"ok", "1", ""}, {"q", `say "hi"é`, "a"}, {"none", "", ""}, {"none", "null", ""}, {"OS", "Linux", ""},
	} {
		require.Equal(t, c.want, r.having(c.key, c.value), "%s=%s", c.key, c.value)
	}
	// The worker's memory makes it forget nothing: what is known is written all the same.
	require.Equal(t, 1, int(r.ID(`select count(*) from crash_group_facets f join crash_groups g on g.id = f.group_id
		where g.title = 'title c' and cardinality(f.hashes) = 1 and f.key = (select f.key from crash_group_facets f
			join crash_groups g on g.id = f.group_id where g.title = 'title c' order by 1 limit 1)`)))
}

// An attribute of many values is asked of the reports, by whichever way is cheaper.
func TestAttributeOfManyValues(t *testing.T) {
	t.Parallel()
	r := open(t)
	var crashes []crash.Crash
	for i := range 120 {
		crashes = append(crashes, r.of("many", fmt.Sprintf(`{"user":"u%d","os":"Linux"}`, i)))
	}
	r.recordKnown(crashes...)
	r.recordKnown(r.of("few", `{"user":"u119"}`), r.of("many", `{"user":"late"}`))
	require.Equal(t, 1, int(r.ID(`select count(*) from crash_group_facets where many`)))
	require.EqualValues(t, 50, r.ID(`select cardinality(hashes) from crash_group_facets where many`))
	require.Equal(t, "many", r.having("user", "u3"))
	require.Equal(t, "few,many", r.having("user", "u119"))
	require.Equal(t, "many", r.having("user", "late"))
	require.Equal(t, "many", r.having("user", "late", "user", "late"))
	require.Empty(t, r.having("user", "late", "os", "Linux"))
	require.Equal(t, "many", r.having("user", "u119", "os", "Linux"))
	require.Empty(t, r.having("user", "nobody"))

	// Of a value that thousands of reports have, the facets and the newest reports of
	// each group say it.
	key := r.ID(`select id from crash_group_keys where group_id = $1`, r.Group("many").ID)
	_, err := r.DB.ExecContext(t.Context(), `
		insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at, received_at,
			lang, agent, classifier, message, version, host, attributes)
		select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'processed', 'json', now(), now(), '', '', '', '', '', '',
			'{"user":"everybody","os":"Linux"}' from generate_series(1, 2100)`, r.Org.ID, r.Project, key)
	require.NoError(t, err)
	for name, filters := range map[string][]condition.Attribute{
		"one": {{Key: "user", Value: "everybody"}}, "two": {{Key: "user", Value: "everybody"}, {Key: "os", Value: "Linux"}},
	} {
		groups, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Attributes: filters, Limit: 10})
		require.NoError(t, err)
		require.Len(t, groups, 1, name)
		require.Equal(t, name == "one", total.Exact, "of several, no more is read than a page needs")
	}
	// What is in old reports only, among others of a frequent value, is not promised: the
	// list says so.
	crashes = nil
	for i := range 120 {
		crashes = append(crashes, r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.OccurredAt = crashtest.Grouping("old"), fmt.Sprintf(`{"user":"o%d"}`, i),
				crashtest.Epoch.Add(time.Duration(i)*time.Second)
		}))
	}
	crashes[60].Attributes = `{"user":"everybody"}`
	r.recordKnown(crashes...)
	_, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 10,
		Attributes: []condition.Attribute{{Key: "user", Value: "everybody"}}})
	require.NoError(t, err)
	require.False(t, total.Exact)
	// A change of all is refused then, for it would leave some out.
	state := crash.Resolved
	plan := func(filters ...condition.Attribute) error {
		_, err := bulk.Plan(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Attributes: filters},
			crash.GroupChange{State: &state})
		return err
	}
	everybody, linux := condition.Attribute{Key: "user", Value: "everybody"}, condition.Attribute{Key: "os", Value: "Linux"}
	for _, filters := range [][]condition.Attribute{{everybody}, {everybody, linux}} {
		var invalid *storage.InvalidError
		require.ErrorAs(t, plan(filters...), &invalid)
		require.Equal(t, "attribute.user", invalid.Field)
		require.Contains(t, invalid.Msg, "narrow the filter")
	}
	require.NoError(t, plan(condition.Attribute{Key: "user", Value: "u3"}, linux))
}

func TestAttributesBeyondTheBound(t *testing.T) {
	t.Parallel()
	r := open(t)
	var members []string
	for i := range 250 {
		members = append(members, fmt.Sprintf(`"k%03d":%d`, i, i))
	}
	r.recordKnown(r.of("wide", "{"+strings.Join(members, ",")+"}"), r.of("other", `{"k249":249}`))
	require.EqualValues(t, 202, r.ID(`select count(*) from crash_group_facets`))
	for i := range 250 {
		want := "wide"
		if i == 249 {
			want = "other,wide"
		}
		require.Equal(t, want, r.having(fmt.Sprintf("k%03d", i), fmt.Sprint(i)))
	}
	require.Empty(t, r.having("k010", "249"))
}

// A removal takes the values along that no other report has, also from what the worker
// remembers.
func TestFacetsForgetRemovedReports(t *testing.T) {
	t.Parallel()
	r := open(t)
	ids := []uuid.UUID{}
	add := func(attributes string) {
		id := uuid.New()
		receipts, _ := r.Accept(r.Incoming(id, crashtest.Document(id, "boom")))
		c := r.Made(func(c *crash.Crash) { c.ID, c.UUID, c.Attributes = receipts[0].ID, id, attributes })
		r.recordKnown(c)
		ids = append(ids, c.ID)
	}
	remove := func(id uuid.UUID) {
		plan, _, err := r.Store.PlanRemoval(t.Context(), r.Org.ID, []uuid.UUID{id})
		require.NoError(t, err)
		r.Must(func(_ context.Context, tx *storage.Tx) error {
			_, err := r.Store.Remove(t.Context(), tx, plan)
			return err
		})
	}
	values := func() int64 { return r.ID(`select coalesce(sum(cardinality(hashes)), 0) from crash_group_facets`) }
	add(`{"user":"ann","os":"Linux"}`)
	add(`{"user":"bob","os":"Linux"}`)
	require.EqualValues(t, 3, values())
	remove(ids[0])
	require.EqualValues(t, 2, values())
	require.Empty(t, r.having("user", "ann"))
	require.Equal(t, "k", r.having("os", "Linux"))
	require.Zero(t, r.ID(`select count(*) from crash_group_facets where many`), "all reports that are left were read")
	add(`{"user":"ann"}`)
	require.EqualValues(t, 3, values())
	require.Equal(t, "k", r.having("user", "ann"))
	remove(ids[1])
	remove(ids[2])
	require.Zero(t, values(), "the group is gone")
}

// Groups from before there were facets are found by their reports, until their facets
// are built.
func TestBuildFacets(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 60 {
		r.Record(r.Made(func(c *crash.Crash) {
			c.Group, c.Message, c.Attributes = crashtest.Grouping("a"), fmt.Sprint("message ", i%7, "\nmore"),
				fmt.Sprintf(`{"os":"Linux","user":"u%d","n":%d}`, i, i%3)
		}))
	}
	r.Record(r.of("b", `{"os":"Windows"}`))
	former := func(query string) (out []string) {
		require.NoError(t, r.DB.SelectContext(t.Context(), &out, query))
		return out
	}
	const facets = `select g.title || f.key || f.many || case when f.many then '' else (select string_agg(h::text, ' ' order by h)
		from unnest(f.hashes) h) end
		from crash_group_facets f join crash_groups g on g.id = f.group_id order by 1`
	const texts = `select message || count from crash_group_messages union all select text from crash_group_titles order by 1`
	facetsBefore, textsBefore := former(facets), former(texts)
	for _, statement := range []string{`delete from crash_group_facets`, `delete from crash_group_messages`, `delete from crash_group_titles`,
		`update crash_groups set facets_at = null`} {
		_, err := r.DB.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	find := func(built bool) {
		require.Equal(t, "a", r.having("os", "Linux"))
		require.Equal(t, "a", r.having("user", "u59", "n", "2"))
		got, _ := r.Titles(reading.GroupFilter{Search: "culprit b"})
		require.Equal(t, "b", got)
		got, _ = r.Titles(reading.GroupFilter{Search: "message 6"})
		require.Equal(t, built, got == "a")
	}
	find(false)
	r.Record(r.of("a", `{"os":"Linux"}`)) // writes no facets: they would not be all
	require.Empty(t, former(facets))
	unbuilt, err := crash.UnbuiltFacets(t.Context(), r.DB, time.Now(), 10)
	require.NoError(t, err)
	require.Len(t, unbuilt, 2)
	build := func(groups []int64) {
		for _, id := range groups {
			r.Must(func(ctx context.Context, tx *storage.Tx) error { return crash.BuildFacets(ctx, tx, id) })
		}
	}
	build(unbuilt)
	require.Equal(t, facetsBefore, former(facets))
	require.Equal(t, textsBefore, former(texts))
	find(true)

	// Reports that went with age take their values along at the next building.
	_, err = r.DB.ExecContext(t.Context(), `delete from crashes where attributes @> '{"n":1}'`)
	require.NoError(t, err)
	_, err = r.DB.ExecContext(t.Context(), `update crash_groups set facets_stale = true`)
	require.NoError(t, err)
	unbuilt, err = crash.UnbuiltFacets(t.Context(), r.DB, time.Now().Add(-time.Hour), 10)
	require.NoError(t, err)
	require.Empty(t, unbuilt, "built a moment ago")
	unbuilt, err = crash.UnbuiltFacets(t.Context(), r.DB, time.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	build(append(unbuilt, 1<<40)) // a group that is gone has nothing to build
	r.noReports()
	require.Empty(t, r.having("n", "1"))
	require.Equal(t, "a", r.having("n", "2"))
}

// A new value is on the disk before the store remembers it; without one nobody waits.
func TestNewFacetsCommitNow(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i, want := range []string{"on", "off", "on"} {
		crashes := []crash.Crash{r.of("a", fmt.Sprintf(`{"os":"%d"}`, i/2))}
		var got string
		r.Must(func(ctx context.Context, tx *storage.Tx) error {
			if err := tx.CommitLater(ctx); err != nil {
				return err
			}
			if err := r.Store.Record(ctx, tx, r.Org.ID, crashes); err != nil {
				return err
			}
			return tx.GetContext(ctx, &got, `show synchronous_commit`)
		})
		r.Store.Committed(crashes)
		require.Equal(t, want, got, "report %d", i)
	}
}
