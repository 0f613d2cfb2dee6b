package intake

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

const (
	uniquePath = "/api/unique-events/submit?universe=main&token="
	summedPath = "/api/summed-events/submit?universe=main&token="
)

func metrics(version, list, events string) string {
	return fmt.Sprintf(`{"application":"shop","appversion":%q,%q:[%s],"metadata":{"dropped_events":0}}`, version, list, events)
}

const launchOfS1 = `{"timestamp":1700000000,"attributes":{"application.session":"s1","guid":"g1","application.version":"1.0"},` +
	`"metric_group":"Application Launches"}`

func TestUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	at := time.Unix(1700000000, 0)
	for _, tc := range []struct {
		target, body string
		want         []usage.Event
	}{
		{summedPath, metrics("0.9", summedEvents, launchOfS1), []usage.Event{{Version: "1.0", At: at, Launch: true, Session: "s1"}}},
		{summedPath, metrics("0.9", summedEvents,
			`{"timestamp":"1700000000","metric_group":"application launches","id":"e1"},{"metric_group":"Clicks"}`),
			[]usage.Event{{Version: "0.9", At: at, Launch: true, Session: "e1"}}},
		{uniquePath, metrics("0.9", uniqueEvents,
			`{"timestamp":1700000000.5,"attributes":{"application.session":"s1","guid":"g1","n":null},"unique":["guid"]}`),
			[]usage.Event{{Version: "0.9", At: at, User: "g1"}}},
		{uniquePath, metrics("0.9", uniqueEvents,
			`{"timestamp":1700000000,"attributes":{"user.id":7,"application.session":"s1"},"unique":["user.id"]}`),
			[]usage.Event{{Version: "0.9", At: at, User: "7"}}},
		{uniquePath, metrics("0.9", uniqueEvents, `{"timestamp":1700000000,"attributes":{"application.session":"s1"},"unique":7}`),
			[]usage.Event{{Version: "0.9", At: at, User: "s1"}}},
		{uniquePath, metrics("0.9", uniqueEvents, `{"attributes":{}}`), nil},
		{uniquePath, metrics("0.9", uniqueEvents, ``), nil},
	} {
		for _, headers := range [][]string{{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}} {
			w.store.usage = nil
			body := tc.body
			if headers[0] == "Content-Encoding" {
				body = gzipped(body)
			}
			rec := w.post(tc.target+"good", body, headers...)
			require.Equal(t, 200, rec.Code, rec.Body.String())
			require.JSONEq(t, `{"response":"ok"}`, rec.Body.String())
			require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
			require.Equal(t, tc.want, w.store.usage)
		}
	}
	require.Equal(t, 10, w.counts.usage)
	require.Zero(t, w.counts.accepted, "metrics are no reports")
	for _, target := range []string{uniquePath, summedPath} {
		req := httptest.NewRequest("OPTIONS", target+"x", nil)
		req.Header.Set("Access-Control-Request-Headers", "content-type")
		rec := w.do(req)
		require.Equal(t, 204, rec.Code)
		require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
		require.Equal(t, "content-type", rec.Header().Get("Access-Control-Allow-Headers"))
	}
}

func TestUsageRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	good := metrics("1", summedEvents, launchOfS1)
	var attributes []string
	for i := range usageAttributes + 1 {
		attributes = append(attributes, fmt.Sprintf(`"a%d":1`, i))
	}
	for name, tc := range map[string]struct {
		target, body string
		status, code int
		text         string
	}{
		"no token":        {summedPath, good, 403, 6, "token"},
		"wrong token":     {summedPath + "bad", good, 403, 6, "token"},
		"wrong scope":     {summedPath + "symbols", good, 403, 7, "error:post"},
		"empty":           {summedPath + "good", "", 400, 1, ""},
		"no JSON":         {uniquePath + "good", "x", 400, 1, ""},
		"an array":        {uniquePath + "good", "[]", 400, 1, ""},
		"bad UTF-8":       {uniquePath + "good", "{\"appversion\":\"\xff\"}", 400, 5, "UTF-8"},
		"no list":         {uniquePath + "good", good, 400, 2, "unique_events"},
		"list of numbers": {summedPath + "good", metrics("1", summedEvents, "7"), 400, 2, "summed_events"},
		"list of a type":  {summedPath + "good", `{"appversion":"1","summed_events":{}}`, 400, 2, "summed_events"},
		"attributes":      {summedPath + "good", metrics("1", summedEvents, `{"attributes":[]}`), 400, 2, "attributes"},
		"no version":      {summedPath + "good", metrics("", summedEvents, `{"metric_group":"Application Launches"}`), 400, 2, "appversion"},
		"many events":     {summedPath + "good", metrics("1", summedEvents, strings.Repeat("{},", usageEvents)+"{}"), 413, 8, "1000 events"},
		"many attributes": {summedPath + "good", metrics("1", summedEvents, `{"attributes":{`+strings.Join(attributes, ",")+`}}`),
			413, 8, "attributes"},
		"too long": {summedPath + "good", good + strings.Repeat(" ", usageBytes), 413, 8, "1048576"},
	} {
		requireFailure(t, w.post(tc.target, tc.body, "Content-Type", "application/json"), tc.status, tc.code, tc.text)
		require.Empty(t, w.store.usage, name)
	}
	require.Equal(t, 200, w.post(summedPath+"quota", good).Code)
	requireFailure(t, w.post(summedPath+"quota", good), 429, 9, "quota")

	w.store.usageErr = storage.ErrUnavailable
	requireFailure(t, w.post(summedPath+"good", good), 503, 10, "")
}

func FuzzReadUsage(f *testing.F) {
	f.Add([]byte(metrics("1.0", summedEvents, launchOfS1)))
	f.Add([]byte(metrics("1.0", uniqueEvents, `{"unique":["a",{}],"attributes":{"a":"\u0000\ud800"}}`)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, list := range []string{uniqueEvents, summedEvents} {
			events, err := readUsage(doc, list, time.Unix(0, 0))
			if err != nil {
				continue
			}
			for _, e := range events {
				if e.Version == "" || len(e.Version) > 3*255 || strings.ContainsRune(e.Version+e.Session+e.User, 0) {
					t.Fatalf("%+v", e)
				}
			}
		}
	})
}

// The real client's metrics and report name the same session and user.
func TestUsageOfTheClient(t *testing.T) {
	t.Parallel()
	modules := servicetest.NodeModules(t, "@backtrace/node")
	s := newServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	guid := uuid.NewString()
	out, err := exec.CommandContext(ctx, "node", filepath.Join("testdata", "usage.cjs"), modules, s.url, "one", "4.2.0", guid).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var said struct{ Session string }
	require.NoError(t, json.Unmarshal(out, &said), "%s", out)

	rows, total, err := reading.Versions(ctx, s.db, reading.VersionFilter{ProjectID: s.projectOf(t, "one"), Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, "4.2.0", rows[0].Version)
	require.Equal(t, reading.Figures{Sessions: 1, Users: 1}, rows[0].Figures)
	sum := sha256.Sum256([]byte(said.Session))
	require.Equal(t, 1, s.count(t, fmt.Sprintf(`select count(*) from crash_sessions where id = '%s'`, uuid.UUID(sum[:16]))))

	// What the worker finds in the report.
	var batch uuid.UUID
	require.NoError(t, s.db.GetContext(ctx, &batch, `select id from crash_batches`))
	batches, err := s.store.Batches(ctx, []uuid.UUID{batch})
	require.NoError(t, err)
	doc, err := batches[0].Document(0)
	require.NoError(t, err)
	var report struct{ Attributes map[string]any }
	require.NoError(t, json.Unmarshal(doc, &report))
	require.Equal(t, said.Session, report.Attributes["application.session"])
	require.Equal(t, guid, report.Attributes["guid"])
	require.Equal(t, "4.2.0", report.Attributes["application.version"])
}

func (s *server) projectOf(t *testing.T, name string) (id int64) {
	t.Helper()
	require.NoError(t, s.db.GetContext(t.Context(), &id, `select id from crash_projects where name = $1`, name))
	return id
}
