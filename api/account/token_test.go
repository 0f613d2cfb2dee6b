package account_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// TestTokenExchangeBodies: the key comes in a header, a form or a JSON object, and errors
// say which member is wrong.
func TestTokenExchangeBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.ours.Owner.APIKey
	for name, row := range map[string]struct {
		kind, body string
		want       int
		text       string
	}{
		"form":             {"application/x-www-form-urlencoded", "api_key=" + key, 200, ""},
		"JSON":             {"application/json", `{"api_key": "` + key + `"}`, 200, ""},
		"another member":   {"application/json", `{"api_key": "` + key + `", "other": 1}`, 400, "other: is unknown here"},
		"JSON, charset":    {"application/json; charset=utf-8", ` {"api_key":"` + key + `"}`, 200, ""},
		"JSON as form":     {"application/x-www-form-urlencoded", `{"api_key":"` + key + `"}`, 200, ""},
		"JSON, no type":    {"", `{"api_key":"` + key + `"}`, 200, ""},
		"wrong key":        {"application/json", `{"api_key":"slp_local_api_wrong"}`, 401, "invalid API key"},
		"number":           {"application/json", `{"api_key":7}`, 400, "api_key: must be a text"},
		"null":             {"application/json", `{"api_key":null}`, 401, "api_key is required"},
		"no member":        {"application/json", `{"key":"x"}`, 401, "api_key is required"},
		"empty":            {"application/json", ``, 401, "api_key is required"},
		"list":             {"application/json", `["` + key + `"]`, 400, "JSON object"},
		"broken":           {"application/json", `{"api_key":`, 400, "JSON object"},
		"form without key": {"application/x-www-form-urlencoded", "key=x", 401, "api_key is required"},
		"too large":        {"application/json", `{"api_key":"` + strings.Repeat("x", 100<<10) + `"}`, 413, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v3/auth/token", strings.NewReader(row.body))
		if row.kind != "" {
			r.Header.Set("Content-Type", row.kind)
		}
		rec := httptest.NewRecorder()
		w.engine.ServeHTTP(rec, r)
		require.Equal(t, row.want, rec.Code, "%s: %s", name, rec.Body)
		answer := object{}
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		if row.want == 200 {
			require.True(t, strings.HasPrefix(answer["token"].(string), "slp_"), name)
			continue
		}
		require.Contains(t, answer["error"], row.text, name)
	}
	// A JSON body is no way in elsewhere.
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v3/me/keys", strings.NewReader(`{"api_key":"`+key+`"}`))
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(t, 401, rec.Code)
}

// TestServiceAccountAmongTeams: the command of the README works in an organization with
// several teams, and a team can be chosen.
func TestServiceAccountAmongTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.ours.Owner.APIKey
	var second, third *account.Team
	w.tx(t, func(ctx context.Context, tx *storage.Tx) (err error) {
		if second, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.ours.Organization.ID,
			Name: "Mobile"}); err != nil {
			return err
		}
		third, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.ours.Organization.ID, Name: "Web"})
		return err
	})
	teams := func(answer object) (ids []int64) {
		for _, team := range answer["teams"].([]any) {
			ids = append(ids, int64(team.(object)["id"].(float64)))
		}
		return ids
	}
	made := w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "acme-ci"})
	require.Equal(t, []int64{w.ours.Team.ID}, teams(made), "the first team of who makes it")
	made = w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "two", "team_id": second.ID})
	require.Equal(t, []int64{second.ID}, teams(made))
	made = w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "three", "team_ids": []int64{third.ID, second.ID}})
	require.Equal(t, []int64{second.ID, third.ID}, teams(made))
	require.Contains(t, w.must(t, 400, owner, "POST", "/service-accounts", object{"username": "four",
		"team_ids": []int64{third.ID, w.theirs.Team.ID}})["error"], "team_id")
	require.Contains(t, w.must(t, 400, owner, "POST", "/service-accounts", object{"username": "four",
		"team_ids": []string{"x"}})["error"], "team_ids")
	// Who is in no team has to say which, and is told the choice.
	teamless := w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "boss", "role": "admin"})["secret"].(string)
	answer := w.must(t, 400, teamless, "POST", "/service-accounts", object{"username": "five"})
	require.Contains(t, answer["error"],
		fmt.Sprintf("team_id: is required, since the organization does not have exactly one team: %d (%s), %d (Mobile)",
			w.ours.Team.ID, w.ours.Team.Name, second.ID))
}
