package tester_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

func find(f *fixture.Fixture, filter tester.Filter, p storage.Page) *tester.List {
	f.T.Helper()
	list, err := tester.Find(fixture.Context(f.T), f.DB, filter, p)
	require.NoError(f.T, err)
	return list
}

func emails(list *tester.List) []string {
	var out []string
	for _, t := range list.Testers {
		out = append(out, t.Email)
	}
	return out
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ann := f.Org.NewUser("ann", account.Tester)
	bob := f.Org.NewUser("bob", account.Tester)
	odd := f.Org.NewUser("50_percent", account.Tester)
	f.Rival.NewUser("ann", account.Tester)
	f.Exec(`update users set name = 'Anneliese Müller' where id = $1`, bob.ID)
	f.Exec(`update users set email = 'ANN@acme.example.com' where id = $1`, ann.ID)
	f.Exec(`update memberships set blocked_at = now() where user_id = $1`, bob.ID)
	qa := f.Group("QA", ann.ID, bob.ID, f.Org.Member.ID)
	yes, no := true, false
	for _, c := range []struct {
		filter tester.Filter
		want   []*fixture.User
	}{
		{tester.Filter{}, []*fixture.User{odd, bob, ann}},
		{tester.Filter{Search: " aNN"}, []*fixture.User{bob, ann}},
		{tester.Filter{Search: "an"}, []*fixture.User{bob, ann}},
		{tester.Filter{Search: "müller"}, []*fixture.User{bob}},
		{tester.Filter{Search: "0_p"}, []*fixture.User{odd}},
		{tester.Filter{Search: "%"}, nil},
		{tester.Filter{Search: `\`}, nil},
		{tester.Filter{Search: "member"}, nil},
		{tester.Filter{Blocked: &yes}, []*fixture.User{bob}},
		{tester.Filter{Blocked: &no}, []*fixture.User{odd, ann}},
		{tester.Filter{GroupID: qa}, []*fixture.User{bob, ann}},
		{tester.Filter{GroupID: qa, Search: "ann@", Blocked: &no}, []*fixture.User{ann}},
	} {
		c.filter.OrganizationID = f.Org.ID
		list := find(f, c.filter, storage.FirstPage())
		require.Equal(t, len(c.want), list.Total, c.filter)
		require.True(t, list.Exact, c.filter)
		require.Len(t, list.Testers, len(c.want), c.filter)
		for i, u := range c.want {
			require.Equal(t, u.ID, list.Testers[i].UserID, c.filter)
		}
	}
	page := find(f, tester.Filter{OrganizationID: f.Org.ID}, storage.Page{Limit: 1, Offset: 1})
	require.Equal(t, 3, page.Total)
	require.Equal(t, []string{"bob@acme.example.com"}, emails(page))
	// The numbers follow who changes role, is unblocked, is removed or deleted.
	f.Exec(`update memberships set role = 'tester', blocked_at = now() where user_id = $1`, f.Org.Member.ID)
	require.Equal(t, []int{4, 2}, []int{find(f, tester.Filter{OrganizationID: f.Org.ID}, storage.Page{}).Total,
		find(f, tester.Filter{OrganizationID: f.Org.ID, Blocked: &yes}, storage.Page{}).Total})
	f.Exec(`update memberships set blocked_at = null where organization_id = $1`, f.Org.ID)
	f.Exec(`delete from users where id = $1`, odd.ID)
	require.Equal(t, []int{3, 0}, []int{find(f, tester.Filter{OrganizationID: f.Org.ID}, storage.Page{}).Total,
		find(f, tester.Filter{OrganizationID: f.Org.ID, Blocked: &yes}, storage.Page{}).Total})
	_, err := tester.Find(fixture.Context(t), f.DB, tester.Filter{OrganizationID: f.Rival.ID, GroupID: qa}, storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// A text that most testers have is counted up to a bound.
func TestFindFrequent(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	list := make([]string, 5500)
	for i := range list {
		list[i] = fmt.Sprintf("p%04d@example.com", i)
	}
	added := add(f, tester.New{OrganizationID: f.Org.ID, Emails: list})
	qa := f.Group("QA", added.UserIDs...)
	for _, filter := range []tester.Filter{{Search: "example"}, {Search: "@"}, {GroupID: qa}, {GroupID: qa, Search: "p"}} {
		filter.OrganizationID = f.Org.ID
		first := find(f, filter, storage.Page{Limit: 10})
		require.Equal(t, []any{5000, false, true, 10}, []any{first.Total, first.Exact, first.Next, len(first.Testers)})
		require.NotEqual(t, emails(first), emails(find(f, filter, storage.Page{Limit: 10, Offset: 10})))
	}
	last := find(f, tester.Filter{OrganizationID: f.Org.ID, Search: "example"}, storage.Page{Limit: 10, Offset: 5495})
	require.Equal(t, []string{"p0004@example.com", "p0003@example.com", "p0002@example.com", "p0001@example.com",
		"p0000@example.com"}, emails(last))
	require.Equal(t, []any{5500, true, false}, []any{last.Total, last.Exact, last.Next})
	beyond := find(f, tester.Filter{OrganizationID: f.Org.ID, Search: "example"}, storage.Page{Limit: 10, Offset: 6000})
	require.Equal(t, []any{0, 5000, false, false}, []any{len(beyond.Testers), beyond.Total, beyond.Exact, beyond.Next})
	one := find(f, tester.Filter{OrganizationID: f.Org.ID, Search: "P0042@"}, storage.Page{Limit: 10})
	require.Equal(t, []any{1, true, []string{"p0042@example.com"}}, []any{one.Total, one.Exact, emails(one)})
	none := find(f, tester.Filter{OrganizationID: f.Org.ID, Search: "-.-"}, storage.Page{Limit: 10})
	require.Equal(t, []any{0, true, false}, []any{none.Total, none.Exact, none.Next})
	all := find(f, tester.Filter{OrganizationID: f.Org.ID}, storage.Page{Limit: 10})
	require.Equal(t, []any{5500, true}, []any{all.Total, all.Exact})
}
