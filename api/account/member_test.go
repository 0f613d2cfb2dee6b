package account_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Admins see who is more than a tester, with teams, keys and the last use; of their own
// organization alone.
func TestMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, member := w.member(t, "ada", account.Admin), w.member(t, "max", account.Member)
	w.must(t, 201, w.ours.Owner.APIKey, "POST", "/service-accounts", object{"username": "robot"})
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID, Email: "tess@example.com", Role: account.Tester})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `update users set name = 'Max 100% <b>' where email = 'max@example.com'`)
		return err
	})
	listed := func(key, query string) (names []any) {
		for _, m := range w.must(t, 200, key, "GET", "/members"+query, nil)["members"].([]any) {
			names = append(names, m.(object)["username"])
		}
		return names
	}
	require.Equal(t, []any{"ours", "ada", "max", "robot"}, listed(admin, ""), "no tester")
	require.Equal(t, []any{"max"}, listed(admin, "?search=MAX@"))
	require.Equal(t, []any{"max"}, listed(admin, "?search=100%25"), "no sign of a pattern means anything")
	require.Empty(t, listed(admin, "?search=_____________________"))
	require.Equal(t, []any{"ada"}, listed(admin, "?role=admin"))
	require.Equal(t, []any{"ada"}, listed(admin, "?per_page=1&page=2"))
	require.Equal(t, []any{"theirs"}, listed(w.theirs.Owner.APIKey, ""))

	answer := w.must(t, 200, admin, "GET", "/members?search=max", nil)
	require.Equal(t, "1", number(t, answer, "pagination", "total"))
	max := answer["members"].([]any)[0].(object)
	require.Equal(t, []any{"max@example.com", "Max 100% <b>", "member", "person", false, float64(1), nil},
		[]any{max["email"], max["name"], max["role"], max["kind"], max["blocked"], max["keys"], max["last_seen_at"]})
	require.Len(t, max["teams"], 1)
	require.Equal(t, 403, first(w.do(t, member, "GET", "/members", nil)))
	max = w.must(t, 200, admin, "GET", "/members?search=max", nil)["members"].([]any)[0].(object)
	require.NotNil(t, max["last_seen_at"], "a refused request is a use of the key, too")
	require.Empty(t, w.must(t, 200, admin, "GET", "/members?search=robot", nil)["members"].([]any)[0].(object)["email"])

	for _, query := range []string{"?role=tester", "?role=king", "?page=0", "?nonsense=1", "?search=a%00"} {
		require.Equal(t, 400, first(w.do(t, admin, "GET", "/members"+query, nil)), query)
	}
}

func first(code int, _ object) int { return code }
