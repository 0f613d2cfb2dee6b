package testergroup_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/tester"
)

func TestProjectTesters(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	var ids []int64
	for _, name := range []string{"direct", "group", "both", "none", "blocked"} {
		ids = append(ids, f.Org.NewUser(name, account.Tester).ID)
	}
	direct, group, both, none, blocked := ids[0], ids[1], ids[2], ids[3], ids[4]
	stranger := f.Rival.NewUser("stranger", account.Tester).ID
	f.Group("one", group, both)
	f.Group("two", both, blocked, f.Org.Member.ID)
	up := f.App("com.example.app")
	app := up.Project.ID
	list := func(search string, p storage.Page) *testergroup.People {
		t.Helper()
		people, err := testergroup.ProjectTesters(ctx, f.DB, f.Org.ID, app, search, p)
		require.NoError(t, err)
		return people
	}
	users := func(people *testergroup.People) (of []int64) {
		for _, p := range people.List {
			of = append(of, p.UserID)
		}
		return of
	}
	change := func(c distribution.ProjectChange) {
		f.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := distribution.UpdateProject(ctx, tx, f.Org.Member.Writer, app, c)
			return err
		})
	}
	add := func(w account.Writer, users ...int64) (n int, err error) {
		err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
			n, err = testergroup.AddProjectTesters(ctx, tx, w, app, users)
			return err
		})
		return n, err
	}

	require.Empty(t, list("", storage.FirstPage()).List)
	change(distribution.ProjectChange{Groups: grant.Groups{Given: true, Names: []string{"one", "two"}}})
	n, err := add(f.Org.Member.Writer, direct, both, direct)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	n, err = add(f.Org.Member.Writer, direct)
	require.NoError(t, err)
	require.Zero(t, n)
	for _, other := range []int64{stranger, 999} {
		_, err = add(f.Org.Member.Writer, none, other)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	_, err = add(f.Rival.Owner.Writer, stranger)
	require.ErrorIs(t, err, storage.ErrNotFound)

	all := list("", storage.FirstPage())
	require.Equal(t, []int64{f.Org.Member.ID, direct, group, both, blocked}, users(all), "each once")
	require.Equal(t, []any{5, true, false}, []any{all.Total, all.Exact, all.Next})
	page := list("", storage.Page{Limit: 2, Offset: 1})
	require.Equal(t, []int64{direct, group}, users(page))
	require.Equal(t, []any{5, true, true}, []any{page.Total, page.Exact, page.Next})
	for search, want := range map[string][]int64{"DIRECT": {direct}, "b": {f.Org.Member.ID, both, blocked}, "none": nil,
		"%": nil, "_": nil, `\`: nil, "acme.example": users(all)} {
		found := list(search, storage.FirstPage())
		require.Equal(t, want, users(found), search)
		require.Equal(t, len(want), found.Total, search)
	}
	found := list("acme", storage.Page{Limit: 2, Offset: 2})
	require.Equal(t, []int64{group, both}, users(found))
	require.True(t, found.Next)

	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.BlockUser(ctx, tx, account.CLI(), f.Org.ID, blocked)
	})
	require.True(t, list("blocked", storage.FirstPage()).List[0].Blocked)

	access := func(user int64) bool {
		a, err := installpage.BuildAccess(ctx, f.DB, up.Build.ID, user)
		require.NoError(t, err)
		return a.Allowed
	}
	require.Equal(t, []bool{true, true, true, false, false}, []bool{access(direct), access(group), access(both),
		access(none), access(blocked)})
	latest, err := installpage.LatestBuildsFor(ctx, f.DB, app, direct, false, 5)
	require.NoError(t, err)
	require.Len(t, latest, 1)
	recipients, err := announcement.Recipients(ctx, f.DB, up.Build.ID, 0, 10)
	require.NoError(t, err)
	require.Len(t, recipients, 4, "all but the blocked one")
	counts, err := announcement.Testers(ctx, f.DB, f.Org.ID, []int64{up.Build.ID})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{up.Build.ID: 5}, counts)

	var copied *distribution.Project
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		copied, err = distribution.CopyProject(ctx, tx, f.Org.Member.Writer, app, nil, nil, nil)
		return err
	})
	ofCopy, err := testergroup.ProjectTesters(ctx, f.DB, f.Org.ID, copied.ID, "", storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, users(all), users(ofCopy))

	change(distribution.ProjectChange{AllTesters: fixture.Ptr(true)})
	require.Equal(t, []int64{f.Org.Member.ID, direct, group, both, none, blocked}, users(list("", storage.FirstPage())))
	require.Equal(t, []int64{none}, users(list("none", storage.FirstPage())))
	require.True(t, access(none))
	change(distribution.ProjectChange{AllTesters: fixture.Ptr(false)})
	require.False(t, access(none))

	remove := func(user int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.RemoveProjectTester(ctx, tx, f.Org.Member.Writer, app, user)
		})
	}
	require.NoError(t, remove(direct))
	require.False(t, access(direct))
	require.ErrorIs(t, remove(direct), storage.ErrNotFound)
	require.NoError(t, remove(both))
	require.True(t, access(both), "by a group still")
	_, err = testergroup.ProjectTesters(ctx, f.DB, f.Rival.ID, app, "", storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// TestManyTesters: a group of many is two statements, one audit entry and a counter that
// is right.
func TestManyTesters(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	const many = 10_000
	f.Exec(`insert into users (uuid, kind, username, email, name) select gen_random_uuid(), 'person', 'many' || n, 'Many' || n || '@example.com', ''
		from generate_series(1, $1::int) n`, many)
	f.Exec(`insert into memberships (organization_id, user_id, role) select $1, id, 'tester' from users where username like 'many%'`, f.Org.ID)
	group := f.Group("many")
	var emails []string
	for n := range many {
		emails = append(emails, fmt.Sprintf("mANY%d@example.com", n+1))
	}
	emails = append(emails, "owner@rival.example.com", "nobody@example.com")
	users, err := testergroup.UsersByEmail(ctx, f.DB, f.Org.ID, emails)
	require.NoError(t, err)
	require.Len(t, users, many)
	var n int
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		n, err = testergroup.AddMembers(ctx, tx, f.Org.Owner.Writer, group, append(users, users[0]))
		return err
	})
	require.Equal(t, many, n)
	require.Equal(t, 1, f.Audited(account.GroupMemberAdded))
	require.Equal(t, many, f.Count(`select jsonb_array_length(detail->'emails') from audit_events where type = $1`,
		int(account.GroupMemberAdded)))
	people, err := testergroup.Testers(ctx, f.DB, f.Org.ID, group, "", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, many, people.Total)
	short, err := testergroup.Testers(ctx, f.DB, f.Org.ID, group, "o", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, short.List, 10)
	absent, err := testergroup.Testers(ctx, f.DB, f.Org.ID, group, "zq", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []any{0, true, false}, []any{absent.Total, absent.Exact, absent.Next})
	common, err := testergroup.Testers(ctx, f.DB, f.Org.ID, group, "many", storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, common.List, 10)
	require.Equal(t, []any{false, true}, []any{common.Exact, common.Next}, "too many to be counted")
	few, err := testergroup.Testers(ctx, f.DB, f.Org.ID, group, "MANY999", storage.Page{Limit: 100})
	require.NoError(t, err)
	require.Equal(t, []any{11, true}, []any{few.Total, few.Exact})

	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		n, err = testergroup.RemoveMembers(ctx, tx, f.Org.Owner.Writer, group, users[1:], true)
		return err
	})
	require.Equal(t, many-1, n)
	f.Exec(`delete from users where id = $1`, users[0])
	g, err := testergroup.ByID(ctx, f.DB, f.Org.ID, group)
	require.NoError(t, err)
	require.Zero(t, g.TestersCount, "a user who is deleted leaves the group")
}

// A tester who is removed while others are added to the same group: the locks are taken in
// one order, so neither is stopped.
func TestMembersAddedAndRemovedTogether(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	old, fresh := f.Org.NewUser("old", account.Tester).ID, f.Org.NewUser("fresh", account.Tester).ID
	group := f.Group("QA", old)
	var membership int64
	require.NoError(t, f.DB.GetContext(ctx, &membership, `select id from memberships where user_id = $1`, old))
	results := make(chan error, 2)
	waiting := func(do func(ctx context.Context, tx *storage.Tx) error, n int) {
		go func() { results <- f.Do(do) }()
		require.Eventually(t, func() bool {
			return f.Count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) == n
		}, time.Minute, 10*time.Millisecond)
	}
	// Both wait for the group's row, the removal first.
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `select from tester_groups where id = $1 for no key update`, group)
		waiting(func(ctx context.Context, tx *storage.Tx) error {
			return tester.Remove(ctx, tx, f.Org.Owner.Writer.Actor, f.Org.ID, membership)
		}, 1)
		waiting(func(ctx context.Context, tx *storage.Tx) error {
			_, err := testergroup.AddMembers(ctx, tx, f.Org.Owner.Writer, group, []int64{old, fresh})
			return err
		}, 2)
		return err
	})
	for range 2 {
		if err := <-results; !errors.Is(err, storage.ErrNotFound) { // the tester was removed before
			require.NoError(t, err)
		}
	}
	require.Zero(t, f.Count(`select count(*) from memberships where user_id = $1`, old))
}
