package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const form = "application/x-www-form-urlencoded"

// create creates a site and returns the answer.
func (w *world) create(want int, key, kind, body string) object {
	w.T.Helper()
	rec := w.send(key, "POST", "/api/1/site", kind, body)
	require.Equal(w.T, want, rec.Code, "%s: %s", body, rec.Body)
	var answer object
	require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer))
	return answer
}

func TestSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(200, w.owner, form, "name=Berlin-2&loginMethod=sso")
	require.Equal(t, "ok", made["status"])
	berlin := made["apiKey"].(string)
	id := made["site"].(object)["id"].(string)
	require.Equal(t, object{"id": id, "name": "Berlin-2", "buildsCount": 0.0, "subdomain": "berlin-2", "loginMethod": "sso",
		"users": []any{object{"email": "owner@acme.example.com", "role": "owner"}}}, made["site"])
	require.Equal(t, 1, w.Count(`select count(*) from organizations where id = $1::bigint and require_login and parent_id = $2`, id, w.Org.ID))
	require.Equal(t, 1, w.Count(`select count(*) from teams where organization_id = $1::bigint`, id))
	require.Equal(t, 1, w.Audited(account.SiteCreated))
	require.Zero(t, w.Count(`select count(*) from audit_events where subject || detail::text like '%' || $1 || '%'`, berlin),
		"no key in the log")

	paris := w.create(200, w.owner, "application/json", `{"name":"paris"}`)
	require.Equal(t, "default", paris["site"].(object)["loginMethod"])

	all := w.get(200, w.owner, "/api/1/site")["site"].(object)
	require.Len(t, all["accounts"], 3)
	first := all["accounts"].([]any)[0].(object)
	require.Equal(t, fmt.Sprint(w.Org.ID), first["id"])
	require.Equal(t, []any{object{"email": "owner@acme.example.com", "role": "owner"},
		object{"email": "member@acme.example.com", "role": "member"}}, first["users"])
	require.Equal(t, []any{object{"email": "owner@acme.example.com"}}, all["managers"])
	require.Equal(t, all, w.get(200, w.owner, "/api/1/sites")["site"])

	own := w.get(200, berlin, "/api/1/site")["site"].(object)
	require.Len(t, own["accounts"], 1, "an admin of a site sees that one")
	require.Equal(t, id, own["accounts"].([]any)[0].(object)["id"])
	require.Equal(t, []any{object{"email": "owner@acme.example.com"}}, own["managers"])
	require.Len(t, w.get(200, w.Rival.Owner.Key(account.KindAPI), "/api/1/site")["site"].(object)["accounts"], 1)

	for body, code := range map[string]float64{"name=berlin-2": 2, "name=BERLIN-2": 2, "name=acme": 2, "name=rival": 2,
		"": 1, "name=": 1, "name=a.b": 1,
		"name=-a": 1, "name=a+b": 1, "name=%C3%BCber": 1, "name=x&loginMethod=ldap": 1, "name=%00": 1} {
		require.Equal(t, code, w.create(400, w.owner, form, body)["code"], body)
	}
	w.create(403, berlin, form, "name=below")
	w.create(403, w.Org.NewUser("admin", account.Admin).Key(account.KindAPI), form, "name=below")
	require.EqualValues(t, 5, w.create(403, w.Org.Member.Key(account.KindAPI), form, "name=below")["code"])
	require.Equal(t, 2, w.Audited(account.SiteCreated))
}

func TestSitesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec(`insert into organizations (uuid, slug, name, parent_id) select gen_random_uuid(), 'site-' || n, 'x', $1
		from generate_series(1, 100) n`, w.Org.ID)
	require.EqualValues(t, 2, w.create(400, w.owner, form, "name=further")["code"])
}

// Who manages an account sees the log of all of its sites, who is admin of a site only
// that one.
func TestAuditsOfSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(200, w.owner, form, "name=berlin")
	key, id := made["apiKey"].(string), made["site"].(object)["id"].(string)
	var site int64
	require.NoError(t, json.Unmarshal([]byte(id), &site))
	w.write(event{organization: w.Org.ID, of: account.WebhookCreated, subject: "first"}, event{organization: site,
		of: account.WebhookCreated, subject: "berlin"},
		event{organization: w.Rival.ID, of: account.WebhookCreated, subject: "rival"})
	names := func(key, path string) (found []string) {
		t.Helper()
		for _, e := range list(w.get(200, key, path), "siteName") {
			found = append(found, e["siteName"].(string))
		}
		return found
	}
	all := "/api/2/audits/admin-trail?action_type=1800"
	require.Equal(t, []string{"berlin", "acme"}, names(w.owner, all))
	require.Equal(t, []string{"berlin"}, names(w.owner, all+"&site=berlin"))
	require.Equal(t, []string{"berlin"}, names(w.owner, all+"&site="+id))
	require.Equal(t, []string{"acme"}, names(w.owner, all+"&site=acme"))
	require.Equal(t, []string{"berlin"}, names(key, all))
	w.get(404, key, all+"&site=acme")
	w.get(404, w.owner, all+"&site=rival")
	require.Len(t, list(w.get(200, key, "/api/v3/audits?action=webhook.created"), ""), 1)
	require.Len(t, list(w.get(200, w.owner, "/api/v3/audits?action=webhook.created"), ""), 1, "version 3 is of one organization")

	// A member of the account's first site who is admin of another one only.
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.SetRole(ctx, tx, account.CLI(), site, w.Org.Owner.ID, account.Owner)
	})
	require.Len(t, list(w.get(200, w.owner, "/api/1/audits?per_page=1000"), ""),
		w.Count(`select count(*) from audit_events where organization_id in ($1, $2)`, w.Org.ID, site))
}
