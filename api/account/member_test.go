package account_test

import (
	"context"
	"net/http/httptest"
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
		_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: "tess@example.com", Role: account.Tester})
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

// Admins change the roles of others up to their own and remove them; the last owner stays.
func TestMemberChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.ours.Owner.APIKey
	admin, max := w.member(t, "ada", account.Admin), w.member(t, "max", account.Member)
	w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "robot"})
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: "tess@example.com", Role: account.Tester})
		return err
	})
	at := func(login string) string {
		var id string
		require.NoError(t, w.db.GetContext(t.Context(), &id, `select id::text from users where username = $1 or email = $1`, login))
		return "/members/" + id
	}
	audited := func(action string) (n int) {
		require.NoError(t, w.db.GetContext(t.Context(), &n,
			`select count(*) from audit_events where organization_id = $1 and action = $2`, w.ours.Organization.ID, action))
		return n
	}
	role := func(name string) object { return object{"role": name} }

	member := w.must(t, 200, admin, "GET", at("max"), nil)["member"].(object)
	require.Equal(t, []any{"max@example.com", "member"}, []any{member["email"], member["role"]})
	require.Equal(t, "admin", w.must(t, 200, admin, "PUT", at("max"), role("admin"))["member"].(object)["role"])
	w.must(t, 200, max, "GET", "/members", nil)
	w.must(t, 200, admin, "PUT", at("max"), role("admin"))
	require.Equal(t, 1, audited("user.role_changed"), "the same role is no change")
	w.must(t, 200, admin, "PUT", at("max"), role("member"))

	for _, c := range []struct {
		want              int
		key, method, path string
		body              any
	}{
		{403, max, "GET", at("ada"), nil},
		{403, max, "PUT", at("max"), role("owner")},
		{403, max, "DELETE", at("ada"), nil},
		{403, admin, "PUT", at("max"), role("owner")},
		{403, admin, "PUT", at("ours@example.com"), role("member")},
		{403, admin, "DELETE", at("ours@example.com"), nil},
		{409, owner, "PUT", at("ours@example.com"), role("admin")},
		{409, owner, "DELETE", at("ours@example.com"), nil},
		{409, owner, "PUT", at("robot"), role("admin")},
		{409, owner, "DELETE", at("robot"), nil},
		{400, owner, "PUT", at("max"), role("tester")},
		{400, owner, "PUT", at("max"), role("")},
		{400, owner, "PUT", at("max"), object{"role": "admin", "unbeknown": 1}},
		{404, owner, "GET", "/members/x", nil},
		{404, owner, "GET", at("tess@example.com"), nil},
		{404, owner, "PUT", at("tess@example.com"), role("admin")},
		{404, owner, "DELETE", at("tess@example.com"), nil},
		{404, owner, "GET", at("theirs@example.com"), nil},
		{404, owner, "PUT", at("theirs@example.com"), role("admin")},
		{404, owner, "DELETE", at("theirs@example.com"), nil},
	} {
		code, answer := w.do(t, c.key, c.method, c.path, c.body)
		require.Equal(t, c.want, code, "%s %s %v: %v", c.method, c.path, c.body, answer)
	}
	require.Equal(t, 2, audited("user.role_changed"), "a refusal is no change")

	token := w.must(t, 200, max, "POST", "/auth/token", object{"api_key": max})["token"].(string)
	gone := at("max")
	w.must(t, 204, admin, "DELETE", gone, nil)
	require.Equal(t, 401, first(w.do(t, max, "GET", "/me/keys", nil)), "the key has ended")
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v3/me/keys", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(t, 401, rec.Code, "so has the token")
	w.must(t, 404, admin, "GET", gone, nil)
	w.must(t, 404, admin, "DELETE", gone, nil)
	require.Equal(t, 1, audited("user.removed"))
	var teams int
	require.NoError(t, w.db.GetContext(t.Context(), &teams,
		`select count(*) from team_memberships m join users u on u.id = m.user_id where u.username = 'max'`))
	require.Zero(t, teams)

	// With a second owner the first may go.
	w.must(t, 200, owner, "PUT", at("ada"), role("owner"))
	w.must(t, 204, owner, "DELETE", at("ours@example.com"), nil)
	require.Equal(t, 409, first(w.do(t, admin, "DELETE", at("ada"), nil)))
}

func first(code int, _ object) int { return code }
