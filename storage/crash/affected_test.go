package crash_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestAffectedUser(t *testing.T) {
	t.Parallel()
	for want, attributes := range map[string]map[string]string{
		"":             {"hostname": "localhost", "user.id": ""},
		"user 7":       {"user.id": "7", "guid": "g"},
		"user ann":     {"user_id": "ann"},
		"device g":     {"guid": "g", "hostname": "h"},
		"device h":     {"hostname": "h"},
		"device phone": {"uname.nodename": "localhost", "device.id": "phone"},
	} {
		require.Equal(t, want, crash.AffectedUser(func(key string) string { return attributes[key] }))
	}
}

// by is a crash of a key that affects somebody.
func (r *room) by(key, user string, change func(c *crash.Crash)) crash.Crash {
	return r.Made(func(c *crash.Crash) {
		c.Group, c.Affected, c.Attributes = crashtest.Grouping(key), "user "+user, fmt.Sprintf(`{"user.id":%q}`, user)
		if change != nil {
			change(c)
		}
	})
}

func TestUsersOfGroups(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.by("a", "ann", nil), r.by("a", "ann", nil), r.by("a", "bob", nil), r.by("b", "ann", nil),
		r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("b") }))
	r.Record(r.by("a", "ann", nil), r.by("a", "eve", nil))
	a, b := r.Group("a"), r.Group("b")
	require.EqualValues(t, 3, a.Users)
	require.EqualValues(t, 1, b.Users)
	require.False(t, a.UsersPartial)

	// Of a group and its part each counts once; taken out, each has its own again.
	merge := func() {
		r.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crash.Merge(ctx, tx, crashtest.Writer(r.Org.ID), b.ID, a.ID)
			return err
		})
	}
	merge()
	require.EqualValues(t, 3, r.Group("a").Users)
	r.Record(r.by("b", "zoe", nil), r.by("b", "bob", nil))
	require.EqualValues(t, 4, r.Group("a").Users)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := crash.Unmerge(ctx, tx, crashtest.Writer(r.Org.ID), b.ID)
		return err
	})
	require.EqualValues(t, 3, r.Group("a").Users)
	require.EqualValues(t, 3, r.Group("b").Users) // ann, zoe, bob

	list, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Sort: reading.SortUsers,
		Ascending: true, Limit: 5})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, min(a.ID, b.ID), list[0].ID, "of equal numbers the older one")
}

func TestManyUsersOfAGroupAreBounded(t *testing.T) {
	t.Parallel()
	r := open(t)
	const users = 5000
	for from := 0; from < users; from += 500 {
		var crashes []crash.Crash
		for i := range 500 {
			crashes = append(crashes, r.by("k", fmt.Sprint("u", from+i), nil))
		}
		r.Record(crashes...)
	}
	require.InEpsilon(t, users, r.Group("k").Users, 0.1)
	require.LessOrEqual(t, r.ID(`select max(length(sample)) from crash_group_reach`), int64(1024*8))
}

// What split moves takes its users along.
func TestUsersAfterASplit(t *testing.T) {
	t.Parallel()
	r := open(t)
	on := func(name string) func(c *crash.Crash) { return func(c *crash.Crash) { c.StackKey = stack(name) } }
	r.Record(r.by("k", "ann", on("x")), r.by("k", "bob", on("x")), r.by("k", "bob", on("y")), r.by("k", "eve", on("y")))
	to, key, err := r.split(r.Org.ID, r.Group("k").ID, byStack("y"))
	require.NoError(t, err)
	r.moveAll(key)
	require.EqualValues(t, 2, r.Group("k").Users) // ann, bob
	g, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, to)
	require.NoError(t, err)
	require.EqualValues(t, 2, g.Users) // bob, eve
}

// A group from before users were counted gets those of its reports that are kept.
func TestUsersOfGroupsFromBefore(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.by("k", "ann", nil), r.by("k", "bob", nil))
	g := r.Group("k")
	r.Exec(`delete from crash_group_reach`)
	r.Exec(`update crash_groups set users = 0, users_since = null`)
	require.True(t, r.Group("k").UsersPartial)
	r.Record(r.by("k", "eve", nil))
	ids, err := crash.UncountedUsers(t.Context(), r.DB, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{g.ID}, ids)
	r.Must(func(ctx context.Context, tx *storage.Tx) error { return crash.CountUsers(ctx, tx, g.ID) })
	g = r.Group("k")
	require.EqualValues(t, 3, g.Users)
	require.False(t, g.UsersPartial)
	ids, err = crash.UncountedUsers(t.Context(), r.DB, 10)
	require.NoError(t, err)
	require.Empty(t, ids)
}

func TestIgnoredUntilMoreUsers(t *testing.T) {
	t.Parallel()
	r := open(t)
	now := time.Now()
	seen := func(user string) { // after it was ignored
		r.Record(r.by("k", user, func(c *crash.Crash) { c.ReceivedAt = now.Add(time.Hour) }))
	}
	r.Record(r.by("k", "ann", nil))
	ignored, more := crash.Ignored, int64(2)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := crash.ChangeGroup(ctx, tx, crashtest.Writer(r.Org.ID), r.Group("k").ID, crash.GroupChange{State: &ignored, UntilUsers: &more})
		return err
	})
	seen("ann")
	seen("bob")
	g := r.Group("k")
	require.Equal(t, crash.Ignored, g.State)
	require.EqualValues(t, 1, *g.IgnoredUsers)

	r.Record(r.by("like", "dan", nil), r.by("like", "fay", nil), r.by("like", "gus", nil))
	_, _, err := r.merge(t.Context(), r.Org.ID, r.Group("like").ID, g.ID)
	require.NoError(t, err)
	seen("ann")
	g = r.Group("k")
	require.Equal(t, crash.Ignored, g.State, "what a merge brings is not new")
	require.EqualValues(t, 5, g.Users)
	require.EqualValues(t, 1, *g.IgnoredUsers)
	seen("eve")
	g = r.Group("k")
	require.Equal(t, crash.Open, g.State)
	require.Equal(t, crash.EndedByUsers, g.IgnoreEnded)
	require.Nil(t, g.IgnoredUsers)
}
