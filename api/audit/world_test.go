package audit_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/audit"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

type object = map[string]any

// world is two organizations behind the room's routes.
type world struct {
	*fixture.Fixture
	engine *gin.Engine
	owner  string // key of the owner of Org
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	h, err := audit.New(audit.Config{DB: w.DB, Keys: w.Keys})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	w.owner = w.Org.Owner.Key(account.KindAPI)
	return w
}

func (w *world) send(key, method, path, kind, body string, header ...string) *httptest.ResponseRecorder {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-API-Key", key)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

// get reads an answer of the status.
func (w *world) get(want int, key, path string) object {
	w.T.Helper()
	rec := w.send(key, http.MethodGet, path, "", "")
	require.Equal(w.T, want, rec.Code, "%s: %s", path, rec.Body)
	answer := object{}
	require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer))
	return answer
}

// event is one that a test writes.
type event struct {
	organization int64
	at           time.Time
	of           account.AuditType
	user         *fixture.User
	subject      string
	detail       any
}

// write writes events of a certain time.
func (w *world) write(events ...event) {
	w.T.Helper()
	for _, e := range events {
		user := e.user
		if user == nil {
			user = w.Org.Owner
		}
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return account.Audit(ctx, tx, account.Event{OrganizationID: e.organization, Type: e.of, Subject: e.subject, Detail: e.detail,
				Actor: account.Actor{UserID: user.ID, Name: user.Label(), RequestID: "request-1", IPAddress: "192.0.2.17"}})
		})
		if e.at.IsZero() {
			continue
		}
		// The log refuses changes: an event of another time is written anew.
		w.Exec(`insert into audit_events (organization_id, at, type, action, actor_user_id, actor, subject, detail, request_id, ip_address)
			select organization_id, $1, type, action, actor_user_id, actor, subject, detail, request_id, ip_address
			from audit_events order by id desc limit 1`, e.at)
	}
}

// list returns the member of the events of a list.
func list(answer object, member string) []object {
	var events []object
	for _, e := range answer["audits"].([]any) {
		if member == "" {
			events = append(events, e.(object))
			continue
		}
		events = append(events, object{member: e.(object)[member]})
	}
	return events
}
