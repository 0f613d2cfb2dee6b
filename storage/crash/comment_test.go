package crash_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

func (r *room) comment(w account.Writer, group int64, text string) (c *crash.Comment, err error) {
	err = r.Do(func(ctx context.Context, tx *storage.Tx) error {
		c, err = crash.CreateComment(ctx, tx, w, group, text)
		return err
	})
	return c, err
}

func (r *room) texts(group int64) string {
	root, err := crash.ResolveGroup(r.T.Context(), r.DB, r.Org.ID, group)
	require.NoError(r.T, err)
	list, total, err := crash.Comments(r.T.Context(), r.DB, root, storage.FirstPage())
	require.NoError(r.T, err)
	require.Len(r.T, list, total)
	var texts []string
	for _, c := range list {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, ",")
}

func TestComments(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("part") }))
	root, part := r.Group("k").ID, r.Group("part").ID
	author, admin := r.Org.Member.Writer, crashtest.Writer(r.Org.ID)
	first, err := r.comment(author, part, " of the\r\npart\t")
	require.NoError(t, err)
	require.Equal(t, "of the\npart", first.Text)
	require.Equal(t, r.Org.Member.ID, *first.AuthorID)
	_, err = r.comment(author, root, "of the group")
	require.NoError(t, err)

	// The comments of a part are shown with the group, and leave with the part.
	_, _, err = r.merge(t.Context(), r.Org.ID, part, root)
	require.NoError(t, err)
	require.Equal(t, "of the\npart,of the group", r.texts(root))
	require.Equal(t, r.texts(root), r.texts(part))
	_, err = r.comment(author, part, "on both")
	require.NoError(t, err)
	require.Equal(t, 3, r.Group("part").Comments)
	require.NoError(t, r.unmerge(part))
	require.Equal(t, "of the\npart", r.texts(part))
	require.Equal(t, "of the group,on both", r.texts(root))

	// A comment is its author's and the admins'.
	other := author
	other.Actor.UserID = r.Rival.Member.ID
	update := func(w account.Writer, group int64, text string) error {
		return r.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := crash.UpdateComment(ctx, tx, w, group, first.ID, text)
			return err
		})
	}
	remove := func(w account.Writer, group int64) error {
		return r.Do(func(ctx context.Context, tx *storage.Tx) error {
			return crash.DeleteComment(ctx, tx, w, group, first.ID)
		})
	}
	var not *crash.NotAuthorError
	require.ErrorAs(t, update(other, part, "x"), &not)
	require.ErrorAs(t, remove(other, part), &not)
	require.ErrorIs(t, update(author, root, "x"), storage.ErrNotFound, "of another group")
	require.ErrorIs(t, remove(crashtest.Writer(r.Rival.ID), part), storage.ErrNotFound)
	require.NoError(t, update(author, part, "mended"))
	require.NoError(t, update(admin, part, "mended twice"))
	require.Equal(t, "mended twice", r.texts(part))
	require.NoError(t, remove(author, part))
	require.ErrorIs(t, remove(author, part), storage.ErrNotFound)
	require.Equal(t, 6, r.Audited(account.CrashGroupCommented))
	require.Zero(t, r.Count(`select count(*) from audit_events where detail::text like '%mended%'`), "the trail cannot forget")

	for _, bad := range []string{"", " \n", "a\x00b", "\xff", strings.Repeat("ä", 10_001)} {
		_, err := r.comment(author, root, bad)
		require.Equal(t, "text", fixture.InvalidField(t, err))
	}
	_, err = r.comment(author, root, strings.Repeat("ä", 10_000))
	require.NoError(t, err)
	_, err = r.comment(crashtest.Writer(r.Rival.ID), root, "x")
	require.ErrorIs(t, err, storage.ErrNotFound)

	// The author's name outlives the user; the comments go with the group.
	r.Exec(`delete from users where id = $1`, r.Org.Member.ID)
	require.Equal(t, 3, r.Count(`select count(*) from crash_group_comments where author_id is null and author <> ''`))
	r.Exec(`delete from crash_groups where id = $1`, root)
	require.Zero(t, r.Count(`select count(*) from crash_group_comments`))
}

func TestCommentsAreBounded(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil))
	id := r.Group("k").ID
	r.Exec(`insert into crash_group_comments (group_id, author, text) select $1, 'robot', 'x' from generate_series(1, 1000)`, id)
	_, err := r.comment(r.Org.Member.Writer, id, "x")
	require.ErrorIs(t, err, storage.ErrConflict)
}
