package testergroup_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	ann, bob := f.Org.NewUser("ann", account.Tester).ID, f.Org.NewUser("bob", account.Tester).ID
	stranger := f.Rival.NewUser("stranger", account.Tester).ID
	qa := f.Group(" QA ", bob, ann, ann)
	seven := f.Group(fmt.Sprint(qa)) // called like the other's id

	list, total, err := testergroup.List(ctx, f.DB, testergroup.Filter{OrganizationID: f.Org.ID}, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, seven, list[0].ID)
	_, total, err = testergroup.List(ctx, f.DB, testergroup.Filter{OrganizationID: f.Rival.ID}, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, total)

	for ref, want := range map[string]int64{"qa": qa, "Qa": qa, fmt.Sprint(qa): seven, fmt.Sprint(seven): seven} {
		g, err := testergroup.ByRef(ctx, f.DB, f.Org.ID, ref)
		require.NoError(t, err)
		require.Equal(t, want, g.ID, ref)
	}
	for _, ref := range []string{"", "nobody", "99999999999999999999999", "1 or 1=1", "q\x00a"} {
		_, err := testergroup.ByRef(ctx, f.DB, f.Org.ID, ref)
		require.ErrorIs(t, err, storage.ErrNotFound, ref)
	}
	_, err = testergroup.ByRef(ctx, f.DB, f.Rival.ID, "qa")
	require.ErrorIs(t, err, storage.ErrNotFound)

	people, err := testergroup.Testers(ctx, f.DB, f.Org.ID, qa, "", storage.Page{Limit: 1, Offset: 1})
	require.NoError(t, err)
	require.Equal(t, 2, people.Total)
	require.Equal(t, []string{"bob@acme.example.com"}, emailsOf(people))
	_, err = testergroup.Testers(ctx, f.DB, f.Rival.ID, qa, "", storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)

	for name, fn := range map[string]func(context.Context, *storage.Tx) error{
		"a stranger": func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.AddUser(ctx, tx, account.CLI(), f.Org.ID, qa, stranger)
		},
		"others' group": func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.AddUser(ctx, tx, account.CLI(), f.Rival.ID, qa, stranger)
		},
		"not in it": func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.RemoveUser(ctx, tx, account.CLI(), f.Org.ID, qa, stranger)
		},
		"others' member": func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.RemoveUser(ctx, tx, account.CLI(), f.Rival.ID, qa, ann)
		},
		"others'": func(ctx context.Context, tx *storage.Tx) error {
			return testergroup.Delete(ctx, tx, account.CLI(), f.Rival.ID, qa)
		},
		"no organization": func(ctx context.Context, tx *storage.Tx) error {
			_, err := testergroup.Create(ctx, tx, account.CLI(), 999, "x", false)
			return err
		},
	} {
		require.ErrorIs(t, f.Do(fn), storage.ErrNotFound, name)
	}
	require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := testergroup.Create(ctx, tx, account.CLI(), f.Org.ID, "qA", true)
		return err
	}), storage.ErrConflict)
	require.Equal(t, "name", fixture.InvalidField(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := testergroup.Create(ctx, tx, account.CLI(), f.Org.ID, " \t", true)
		return err
	})))
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		if err := testergroup.RemoveUser(ctx, tx, account.CLI(), f.Org.ID, qa, ann); err != nil {
			return err
		}
		return testergroup.Delete(ctx, tx, account.CLI(), f.Org.ID, qa)
	})
	require.Equal(t, []int{2, 1, 1, 1}, []int{f.Audited(account.GroupCreated), f.Audited(account.GroupMemberAdded),
		f.Audited(account.GroupMemberRemoved), f.Audited(account.GroupDeleted)})
}

// emailsOf are the mail addresses of a page.
func emailsOf(people *testergroup.People) []string {
	emails := []string{}
	for _, p := range people.List {
		emails = append(emails, p.Email)
	}
	return emails
}
