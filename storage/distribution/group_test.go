package distribution_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	ann, bob := f.Org.NewUser("ann", account.Tester).ID, f.Org.NewUser("bob", account.Tester).ID
	stranger := f.Rival.NewUser("stranger", account.Tester).ID
	qa := f.Group(" QA ", bob, ann, ann)
	seven := f.Group(fmt.Sprint(qa)) // called like the other's id

	list, total, err := GroupList(ctx, f.DB, GroupFilter{OrganizationID: f.Org.ID}, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, seven, list[0].ID)
	_, total, err = GroupList(ctx, f.DB, GroupFilter{OrganizationID: f.Rival.ID}, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, total)

	for ref, want := range map[string]int64{"qa": qa, "Qa": qa, fmt.Sprint(qa): seven, fmt.Sprint(seven): seven} {
		g, err := GroupByRef(ctx, f.DB, f.Org.ID, ref)
		require.NoError(t, err)
		require.Equal(t, want, g.ID, ref)
	}
	for _, ref := range []string{"", "nobody", "99999999999999999999999", "1 or 1=1", "q\x00a"} {
		_, err := GroupByRef(ctx, f.DB, f.Org.ID, ref)
		require.ErrorIs(t, err, storage.ErrNotFound, ref)
	}
	_, err = GroupByRef(ctx, f.DB, f.Rival.ID, "qa")
	require.ErrorIs(t, err, storage.ErrNotFound)

	people, err := GroupTesters(ctx, f.DB, f.Org.ID, qa, "", storage.Page{Limit: 1, Offset: 1})
	require.NoError(t, err)
	require.Equal(t, 2, people.Total)
	require.Equal(t, []string{"bob@acme.example.com"}, emailsOf(people))
	_, err = GroupTesters(ctx, f.DB, f.Rival.ID, qa, "", storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)

	for name, fn := range map[string]func(context.Context, *storage.Tx) error{
		"a stranger": func(ctx context.Context, tx *storage.Tx) error {
			return AddToGroup(ctx, tx, account.CLI(), f.Org.ID, qa, stranger)
		},
		"others' group": func(ctx context.Context, tx *storage.Tx) error {
			return AddToGroup(ctx, tx, account.CLI(), f.Rival.ID, qa, stranger)
		},
		"not in it": func(ctx context.Context, tx *storage.Tx) error {
			return RemoveFromGroup(ctx, tx, account.CLI(), f.Org.ID, qa, stranger)
		},
		"others' member": func(ctx context.Context, tx *storage.Tx) error {
			return RemoveFromGroup(ctx, tx, account.CLI(), f.Rival.ID, qa, ann)
		},
		"others'": func(ctx context.Context, tx *storage.Tx) error {
			return DeleteGroup(ctx, tx, account.CLI(), f.Rival.ID, qa)
		},
		"no organization": func(ctx context.Context, tx *storage.Tx) error {
			_, err := CreateGroup(ctx, tx, account.CLI(), 999, "x", false)
			return err
		},
	} {
		require.ErrorIs(t, f.Do(fn), storage.ErrNotFound, name)
	}
	require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := CreateGroup(ctx, tx, account.CLI(), f.Org.ID, "qA", true)
		return err
	}), storage.ErrConflict)
	require.Equal(t, "name", invalidField(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := CreateGroup(ctx, tx, account.CLI(), f.Org.ID, " \t", true)
		return err
	})))
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		if err := RemoveFromGroup(ctx, tx, account.CLI(), f.Org.ID, qa, ann); err != nil {
			return err
		}
		return DeleteGroup(ctx, tx, account.CLI(), f.Org.ID, qa)
	})
	require.Equal(t, []int{2, 1, 1, 1}, []int{audited(f, account.GroupCreated), audited(f, account.GroupMemberAdded),
		audited(f, account.GroupMemberRemoved), audited(f, account.GroupDeleted)})
}

func TestGrants(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Group("a")
	f.Group("b")
	up := f.App("com.example.app")
	change := func(g Groups) ([]string, []string, bool) {
		var p *Project
		var bad []string
		f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			p, bad, err = UpdateProject(ctx, tx, f.Org.Member.Writer, up.Project.ID, ProjectChange{Groups: g})
			return err
		})
		names, err := ProjectGroups(testContext(t), f.DB, up.Project.ID)
		require.NoError(t, err)
		return names, bad, p.AllTesters
	}
	for _, step := range []struct {
		give    Groups
		names   []string
		invalid []string
		all     bool
	}{
		{Groups{Given: true, Names: []string{"A", "b", "a", ""}}, []string{"a", "b"}, []string{}, false},
		{Groups{}, []string{"a", "b"}, []string{}, false},
		{Groups{Given: true, Names: []string{"x", "y"}}, []string{"a", "b"}, []string{"x", "y"}, false},
		{Groups{Given: true, Names: []string{"b", "x"}}, []string{"b"}, []string{"x"}, false},
		{Groups{Given: true, All: true}, []string{}, []string{}, true},
		{Groups{Given: true, All: true, Names: []string{"a", "x"}}, []string{"a"}, []string{"x"}, true},
		{Groups{Given: true, Names: []string{"x"}}, []string{"a"}, []string{"x"}, true},
		{Groups{Given: true}, []string{}, []string{}, false},
	} {
		names, invalid, all := change(step.give)
		require.Equal(t, step.names, names)
		require.ElementsMatch(t, step.invalid, invalid)
		require.Equal(t, step.all, all)
	}
	require.Equal(t, 5, audited(f, account.DistributionChanged), "only what changed something")

	var b *Build
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		b, _, err = UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, up.Build.ID,
			BuildChange{Groups: Groups{Given: true, All: true, Names: []string{"b"}}})
		return err
	})
	require.True(t, b.AllTesters)
	names, err := BuildGroups(testContext(t), f.DB, b.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, names)
}

func TestWhoMayInstall(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	var ids []int64
	for _, name := range []string{"build", "project", "both", "none", "blocked"} {
		ids = append(ids, f.Org.NewUser(name, account.Tester).ID)
	}
	ofBuild, ofProject, both, none, blocked := ids[0], ids[1], ids[2], ids[3], ids[4]
	f.Group("build", ofBuild, both, blocked, f.Org.Member.ID)
	f.Group("project", ofProject, both, blocked)
	stranger := f.Rival.NewUser("s", account.Owner).ID
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	u.BuildGroups = Groups{Given: true, Names: []string{"build"}}
	u.ProjectGroups = Groups{Given: true, Names: []string{"project"}}
	b := f.Upload(u).Build
	plain := f.App("com.example.app").Build
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.BlockUser(ctx, tx, account.CLI(), f.Org.ID, blocked)
	})

	access := func(build, user int64) Access {
		a, err := BuildAccess(ctx, f.DB, build, user)
		require.NoError(t, err)
		return a
	}
	yes, no := Access{Allowed: true}, Access{}
	for user, want := range map[int64]Access{ofBuild: yes, ofProject: yes, both: yes, none: no, blocked: {Blocked: true},
		f.Org.Member.ID: yes, stranger: no, 999: no} {
		require.Equal(t, want, access(b.ID, user), user)
	}
	require.Equal(t, no, access(plain.ID, ofBuild))
	require.Equal(t, yes, access(plain.ID, ofProject))
	_, err := BuildAccess(ctx, f.DB, 999, none)
	require.ErrorIs(t, err, storage.ErrNotFound)

	recipients := func(build, after int64, limit int) (got []int64) {
		list, err := Recipients(ctx, f.DB, build, after, limit)
		require.NoError(t, err)
		for _, r := range list {
			require.NotEmpty(t, r.Email)
			got = append(got, r.UserID)
		}
		return got
	}
	require.Equal(t, []int64{f.Org.Member.ID, ofBuild, ofProject, both}, recipients(b.ID, 0, 10))
	require.Equal(t, []int64{ofProject, both}, recipients(b.ID, ofBuild, 10))
	require.Equal(t, []int64{ofProject}, recipients(plain.ID, 0, 1))
	counts, err := Testers(ctx, f.DB, f.Org.ID, []int64{b.ID, plain.ID, 999})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{b.ID: 5, plain.ID: 3}, counts)
	counts, err = Testers(ctx, f.DB, f.Rival.ID, []int64{b.ID})
	require.NoError(t, err)
	require.Empty(t, counts)

	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, plain.ID, BuildChange{Groups: Groups{Given: true, All: true}})
		return err
	})
	require.Equal(t, yes, access(plain.ID, none))
	require.Equal(t, []int64{ofBuild, ofProject, both, none}, recipients(plain.ID, 0, 10), "testers, not every member")
	counts, err = Testers(ctx, f.DB, f.Org.ID, []int64{plain.ID})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{plain.ID: 5}, counts)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := UpdateProject(ctx, tx, f.Org.Member.Writer, b.ProjectID, ProjectChange{Groups: Groups{Given: true, All: true}})
		return err
	})
	counts, err = Testers(ctx, f.DB, f.Org.ID, []int64{b.ID, plain.ID})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{b.ID: 6, plain.ID: 5}, counts)
}

// emailsOf are the mail addresses of a page.
func emailsOf(people *People) []string {
	emails := []string{}
	for _, p := range people.List {
		emails = append(emails, p.Email)
	}
	return emails
}
