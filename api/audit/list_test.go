package audit_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestVersion3(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(
		event{organization: w.Org.ID, of: account.TestersInvited, subject: "2 testers",
			detail: object{"emails": []string{"bo@example.com", "Über@example.com"}}},
		event{organization: w.Org.ID, of: account.SecurityChanged, user: w.Org.Member, subject: "100%",
			detail: object{"from": object{"a": 1}, "to": object{"a": 2}}},
		event{organization: w.Rival.ID, of: account.TestersInvited, user: w.Rival.Owner, subject: "theirs"},
	)
	first := w.get(200, w.owner, "/api/v3/audits?per_page=1")
	require.EqualValues(t, 1, first["pagination"].(object)["per_page"])
	record := list(first, "")[0]
	at, err := time.Parse(time.RFC3339, record["created_at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
	delete(record, "created_at")
	require.Positive(t, record["id"])
	delete(record, "id")
	require.Equal(t, object{"user": object{"id": float64(w.Org.Member.ID), "email": "member@acme.example.com"}, "ip_address": "192.0.2.17",
		"action": "security.changed", "type": 1905.0, "label": "Security settings changed", "subject": "100%",
		"data": object{"from": object{"a": 1.0}, "to": object{"a": 2.0}}, "request_id": "request-1"}, record)

	count := func(query string) int {
		t.Helper()
		return int(w.get(200, w.owner, "/api/v3/audits?"+query)["pagination"].(object)["total"].(float64))
	}
	require.Equal(t, w.Count(`select count(*) from audit_events where organization_id = $1`, w.Org.ID), count(""))
	for query, want := range map[string]int{
		"action=testers.invited": 1, "action=testers_invited": 1, "action=testers.invited,testers_invited": 1,
		"action=testers.invited,security.changed":            2,
		"action[]=testers.invited&action[]=security.changed": 2, "action=site.created": 0,
		"search=BO@EXAMPLE": 1, "search=über": 1, "search=ÜBER": 1, "search=theirs": 0, "search=100%25": 1, "search=0%25x": 0,
		"search=_": w.Count(`select count(*) from audit_events
			where organization_id = $1 and subject || detail::text || actor like '%\_%'`, w.Org.ID),
		"search=%5C": 0,
		"search=2+testers&action=testers.invited": 1, "search=2+testers&action=security.changed": 0,
		fmt.Sprintf("user_id=%d", w.Org.Member.ID): 1, fmt.Sprintf("user_id=%d", w.Rival.Owner.ID): 0,
		"to=2020-01-01": 0, "from=2020-01-01&to=2020-01-02&search=bo": 0,
	} {
		require.Equal(t, want, count(query), query)
	}
	today := time.Now().UTC().Format(time.DateOnly)
	require.Equal(t, count(""), count("from="+time.Now().UTC().Add(-time.Hour).Format(time.DateOnly)+"&to="+today),
		"a bare end date is the whole day")

	for query, member := range map[string]string{
		"per_page=101": "per_page", "per_page=0": "per_page", "per_page=-1": "per_page", "per_page=x": "per_page", "page=0": "page",
		"action=nothing": "action", "from=yesterday": "from", "to=2020-13-01": "to", "from=2020-01-02&to=2020-01-01": "to",
		"user_id=x": "user_id", "search=" + strings.Repeat("x", 201): "search", "search=%00": "search", "search=%ff": "search",
		"format=xml": "format", "acton=testers.invited": "acton",
	} {
		require.Contains(t, w.get(400, w.owner, "/api/v3/audits?"+query)["error"], member, query)
	}
	w.get(200, w.owner, "/api/v3/audits?per_page=100")
	require.Equal(t, 25.0, w.get(200, w.owner, "/api/v3/audits")["pagination"].(object)["per_page"])

	actions := w.get(200, w.owner, "/api/v3/audits/actions")
	require.Contains(t, actions["actions"], "testers.invited")
	require.NotContains(t, actions["actions"], "webhook.created")
	require.Contains(t, actions["types"], object{"type": 1905.0, "action": "security.changed", "label": "Security settings changed"})
	require.Len(t, actions["types"], len(actions["actions"].([]any)))
}

func TestOnlyAdminsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, member := w.Org.NewUser("admin", account.Admin).Key(account.KindAPI), w.Org.Member.Key(account.KindAPI)
	for _, path := range []string{"/api/v3/audits", "/api/v3/audits.csv", "/api/v3/audits/actions", "/api/2/audits",
		"/api/2/audits/admin-trail",
		"/api/2/audits/tester-trail", "/api/1/audits", "/api/1/site"} {
		require.Equal(t, 200, w.send(admin, "GET", path, "", "").Code, path)
		require.Equal(t, 403, w.send(member, "GET", path, "", "").Code, path)
		require.Equal(t, 401, w.send("", "GET", path, "", "").Code, path)
	}
}

func TestVersion2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := func(d int) time.Time { return time.Date(2025, 3, d, 23, 59, 59, 500_000_000, time.UTC) }
	w.write(
		event{organization: w.Org.ID, of: account.TestersInvited, at: day(1), detail: object{"emails": []string{"bo@example.com"}}},
		event{organization: w.Org.ID, of: account.SecurityChanged, at: day(2)},
		event{organization: w.Org.ID, of: account.BuildUploaded, at: day(3)},
		event{organization: w.Org.ID, of: account.WebhookCreated, at: day(3)},
	)
	march := "start_date=2025-03-01&end_date=2025-03-03"
	answer := w.get(200, w.owner, "/api/2/audits?"+march)
	require.Equal(t, "ok", answer["status"])
	require.Equal(t, object{"page": 1.0, "per_page": 50.0, "total": 4.0, "total_pages": 1.0}, answer["pagination"])
	record := list(answer, "")[3]
	require.Positive(t, record["id"])
	delete(record, "id")
	require.Equal(t, object{"timestamp": "2025-03-01 23:59:59", "enterpriseId": float64(w.Org.ID), "siteName": "acme",
		"userId": float64(w.Org.Owner.ID), "userEmail": "owner@acme.example.com", "ipAddress": "192.0.2.17", "actionType": 1200.0,
		"actionLabel": "Invited testers", "actionData": object{"emails": []any{"bo@example.com"}}}, record)

	for path, want := range map[string][]float64{
		"?" + march:                                               {1800, 1400, 1905, 1200},
		"/admin-trail?" + march:                                   {1800, 1905},
		"/tester-trail?" + march:                                  {1200},
		"?action_type=1905&" + march:                              {1905},
		"?action_type=99&" + march:                                {},
		"/tester-trail?action_type=1905&" + march:                 {},
		"/tester-trail?action_type=1200&" + march:                 {1200},
		"?start_date=2025-03-02&end_date=2025-03-02":              {1905},
		"?end_date=2025-03-01":                                    {1200},
		"?per_page=2&page=2&" + march:                             {1905, 1200},
		"?page=99&" + march:                                       {},
		"?site=acme&" + march:                                     {1800, 1400, 1905, 1200},
		"?site=ACME&" + march:                                     {1800, 1400, 1905, 1200},
		fmt.Sprintf("?site=%d&%s", w.Org.ID, march):               {1800, 1400, 1905, 1200},
		"?action_type=&start_date=2025-03-03&end_date=2025-03-03": {1800, 1400},
	} {
		got := []float64{}
		for _, e := range list(w.get(200, w.owner, "/api/2/audits"+path), "actionType") {
			got = append(got, e["actionType"].(float64))
		}
		require.Equal(t, want, got, path)
	}
	require.EqualValues(t, 200, w.get(200, w.owner, "/api/2/audits?per_page=201")["pagination"].(object)["per_page"])
	for _, query := range []string{"action_type=x", "action_type=99999999999", "start_date=01.03.2025", "end_date=2025-02-30",
		"start_date=2025-03-01T00:00:00Z",
		"start_date=2025-03-02&end_date=2025-03-01", "per_page=0", "page=x", "actiontype=1"} {
		failure := w.get(400, w.owner, "/api/2/audits?"+query)
		require.Equal(t, "fail", failure["status"], query)
		require.EqualValues(t, 1, failure["code"], query)
	}
	for _, site := range []string{"rival", fmt.Sprint(w.Rival.ID), "nobody", "0", "-1", "%00", "' or 1=1"} {
		require.EqualValues(t, 404, w.get(404, w.owner, "/api/2/audits?site="+url.QueryEscape(site))["code"], site)
	}
}

func TestVersion1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(event{organization: w.Org.ID, of: account.BuildDownloaded, detail: object{"appVersion": "1.0 (10)"}})
	rec := w.send(w.owner, "GET", "/api/1/audits", "", "")
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "true", rec.Header().Get("Deprecation"))
	var answer object
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
	require.Equal(t, "ok", answer["status"])
	record := list(answer, "")[0]
	require.Regexp(t, `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`, record["timestamp"])
	require.Positive(t, record["id"])
	delete(record, "id")
	delete(record, "timestamp")
	require.Equal(t, object{"ipAddress": "192.0.2.17", "eventType": "download_app", "eventData": object{"appVersion": "1.0 (10)"}}, record)
	require.Empty(t, w.send(w.owner, "GET", "/api/2/audits", "", "").Header().Get("Deprecation"))
}

func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, subject := range []string{"=1+1", "@sum", "+1", "-1", "\t=1", " =1", "plain, \"quoted\"\r\ntwo lines", "a=b"} {
		w.write(event{organization: w.Org.ID, of: account.SecurityChanged, subject: subject})
	}
	w.write(event{organization: w.Org.ID, of: account.TestersInvited, subject: "2 testers",
		detail: object{"emails": []string{"bo@example.com"}}})
	w.Exec(`insert into audit_events (organization_id, type, action, actor, subject)
		select $1, 1400, 'build.uploaded', 'many', 'build ' || n from generate_series(1, 4500) n`, w.Org.ID)
	read := func(path string, header ...string) [][]string {
		t.Helper()
		rec := w.send(w.owner, "GET", path, "", "", header...)
		require.Equal(t, 200, rec.Code, rec.Body)
		require.Equal(t, "text/csv; charset=utf-8", rec.Header().Get("Content-Type"))
		require.Contains(t, rec.Header().Get("Content-Disposition"), "attachment")
		rows, err := csv.NewReader(rec.Body).ReadAll()
		require.NoError(t, err)
		require.Equal(t, []string{"Time", "User", "Action", "Details", "IP"}, rows[0])
		return rows[1:]
	}
	all := w.Count(`select count(*) from audit_events where organization_id = $1`, w.Org.ID)
	require.Len(t, read("/api/v3/audits.csv"), all+1, "all of them, and the export itself")
	uploads := read("/api/v3/audits?format=csv&action=build.uploaded")
	require.Len(t, uploads, 4500)
	require.Equal(t, "build 4500", uploads[0][3], "newest first")
	require.Equal(t, "build 1", uploads[4499][3])
	require.Len(t, read("/api/v3/audits?search=build+44", "Accept", "text/csv, */*"), 111+1, "and the export, which names the text")
	require.Empty(t, read("/api/v3/audits?to=2020-01-01&format=csv"))
	var shown []string
	for _, row := range read("/api/v3/audits.csv?action=security.changed") {
		shown = append(shown, row[3])
	}
	require.Equal(t, []string{"a=b", "plain, \"quoted\"\ntwo lines", "' =1", "'\t=1", "'-1", "'+1", "'@sum", "'=1+1"}, shown)
	invited := read("/api/v3/audits.csv?action=testers.invited")
	require.Equal(t, []string{"owner@acme.example.com", "testers.invited", `2 testers {"emails": ["bo@example.com"]}`,
		"192.0.2.17"}, invited[0][1:])
	require.Equal(t, 6, w.Audited(account.AuditExported))
	w.get(400, w.owner, "/api/v3/audits.csv?action=nothing")
	require.Equal(t, 6, w.Audited(account.AuditExported), "a refused export is none")
	require.Equal(t, "application/json; charset=utf-8", w.send(w.owner, "GET", "/api/v3/audits?format=json", "", "",
		"Accept", "text/csv").Header().Get("Content-Type"))
}
