package tester_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

func try(f *fixture.Fixture, n tester.New) (added *tester.Added, err error) {
	err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
		added, err = tester.Add(ctx, tx, account.CLI(), n)
		return err
	})
	return added, err
}

func add(f *fixture.Fixture, n tester.New) *tester.Added {
	f.T.Helper()
	added, err := try(f, n)
	require.NoError(f.T, err)
	return added
}

func TestAdd(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	admin := f.Org.NewUser("admin", account.Admin)
	known := f.Rival.NewUser("known", account.Owner)
	blocked := f.Org.NewUser("blocked", account.Tester)
	f.Exec(`update memberships set blocked_at = now() where user_id = $1`, blocked.ID)
	qa, other := f.Group("QA"), f.Group("Other", blocked.ID)
	theirs := f.ID(`insert into tester_groups (organization_id, name) values ($1, 'theirs') returning id`, f.Rival.ID)

	emails := []string{"New@Example.com", "new@example.com", "NEW@example.COM", "plus+tag@example.com", "jörg@müller.example",
		"KNOWN@rival.example.com", "blocked@acme.example.com", "admin@acme.example.com"}
	added := add(f, tester.New{OrganizationID: f.Org.ID, Emails: emails, Name: "Someone",
		Groups: []tester.Group{{ID: qa, Name: "QA"}, {ID: other, Name: "Other"}, {ID: theirs, Name: "theirs"}}})
	require.Equal(t, 4, added.Joined)
	require.Len(t, added.UserIDs, 6)
	require.Equal(t, []int64{known.ID, blocked.ID, admin.ID}, added.UserIDs[3:])
	require.Equal(t, 12, f.Count(`select count(*) from tester_group_members where tester_group_id = any(array[$1, $2]::bigint[])`, qa, other))
	require.Zero(t, f.Count(`select count(*) from tester_group_members where tester_group_id = $1`, theirs))
	role := func(id int64) (r string) {
		require.NoError(t, f.DB.GetContext(t.Context(), &r, `select role || coalesce(' blocked' || (blocked_at < now())::text, '')
			from memberships where organization_id = $1 and user_id = $2`, f.Org.ID, id))
		return r
	}
	require.Equal(t, []string{"tester", "tester", "tester", "tester", "tester blockedtrue", "admin"},
		[]string{role(added.UserIDs[0]), role(added.UserIDs[1]), role(added.UserIDs[2]), role(known.ID), role(blocked.ID), role(admin.ID)})
	require.Equal(t, 1, f.Count(`select count(*) from users where email = 'New@Example.com' and name = 'Someone'`), "what was written is kept")
	require.Equal(t, 1, f.Count(`select count(*) from users where id = $1 and name = 'known'`, known.ID), "others' names are left alone")

	again := add(f, tester.New{OrganizationID: f.Org.ID, Emails: emails})
	require.Zero(t, again.Joined)
	require.Equal(t, added.UserIDs, again.UserIDs)
	require.Equal(t, 2, f.Audited(account.TestersInvited))
	var detail struct {
		Emails []string
		Groups []string
		New    int
	}
	var text string
	require.NoError(t, f.DB.GetContext(t.Context(), &text, `select detail from audit_events where type = 1200 order by id limit 1`))
	require.NoError(t, json.Unmarshal([]byte(text), &detail))
	require.Equal(t, emails, detail.Emails)
	require.Equal(t, 4, detail.New)

	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		ids, err := tester.AddPeople(ctx, tx, account.CLI(), f.Org.ID, emails)
		require.Equal(t, added.UserIDs, ids)
		return err
	})
	require.Equal(t, 2, f.Audited(account.TestersInvited), "nobody was new")
}

// A call that holds one bad address does nothing at all.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	people := f.Count(`select count(*) from users`)
	many := make([]string, account.MaxPeople+1)
	for i := range many {
		many[i] = fmt.Sprintf("p%d@example.com", i)
	}
	for name, bad := range map[string][]string{
		"nobody": {}, "too many": many, "no address": {"a@example.com", "tester"}, "empty": {""},
		"a megabyte": {strings.Repeat("a", 1<<20) + "@example.com"}, "header": {"a@example.com\r\nBcc: b@example.com"},
		"a name": {"Ann <ann@example.com>"}, "two": {"a@example.com b@example.com"}, "nul": {"a\x00@example.com"},
		"bytes": {"\xff@example.com"}, "quoted": {`"a b"@example.com`},
	} {
		_, err := try(f, tester.New{OrganizationID: f.Org.ID, Emails: bad})
		require.Equal(t, "email", fixture.InvalidField(t, err), name)
		require.Less(t, len(err.Error()), 500, name)
	}
	_, err := try(f, tester.New{OrganizationID: f.Org.ID, Emails: []string{"a@example.com"}, Name: strings.Repeat("n", 5000)})
	require.Equal(t, "name", fixture.InvalidField(t, err))
	_, err = try(f, tester.New{OrganizationID: 999, Emails: []string{"a@example.com"}})
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Equal(t, people, f.Count(`select count(*) from users`))
	require.Zero(t, f.Audited(account.TestersInvited))
}

// Ten thousand people are a few statements and one audit entry.
func TestAddTenThousand(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	qa := f.Group("QA")
	emails := make([]string, 10_000)
	for i := range emails {
		emails[i] = fmt.Sprintf("same.name@host%d.example.com", i) // user names must differ
	}
	begin := time.Now()
	added := add(f, tester.New{OrganizationID: f.Org.ID, Emails: emails, Groups: []tester.Group{{ID: qa, Name: "QA"}}})
	t.Log("10,000 testers took", time.Since(begin))
	require.Equal(t, 10_000, added.Joined)
	require.Len(t, added.UserIDs, 10_000)
	require.Equal(t, 10_000, f.Count(`select count(*) from tester_group_members where tester_group_id = $1`, qa))
	require.Equal(t, 1, f.Audited(account.TestersInvited))
	require.Equal(t, 10_000, f.Count(`select jsonb_array_length(detail->'emails') from audit_events where type = 1200`))
}
