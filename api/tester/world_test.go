package tester_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/route/routetest"
	api "github.com/slipway-qa/slipway/api/tester"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is an organization with two teams, a build of the first, testers, and callers of
// each role; and a stranger who administers another organization.
type world struct {
	*fixture.Fixture
	engine *gin.Engine

	owner, lead, member, demoted, stranger *auth.Caller

	ann, bob     int64 // memberships of testers
	annID, bobID int64 // their users
	project      int64
	build        int64
	theirs       string // a membership of the rival's tester
	theirBuild   int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	w.Org.AddSide()
	w.engine = routetest.Engine(routetest.ByContext, api.New(api.Config{DB: w.DB, Links: link.New(fixture.PublicURL)}).Routes()...)
	w.owner, w.member, w.stranger = caller(w.Org.Owner, w.Org.ID), caller(w.Org.Member, w.Org.ID), caller(w.Rival.Owner, w.Rival.ID)
	w.lead = caller(w.Org.NewUser("lead", account.Member, w.Org.Side), w.Org.ID)
	w.lead.Teams = []account.TeamPlace{{ID: w.Org.Side.ID, Admin: true}}
	w.demoted = caller(w.Org.NewUser("demoted", account.Tester), w.Org.ID)
	w.annID, w.bobID = w.Org.NewUser("ann", account.Tester).ID, w.Org.NewUser("bob", account.Tester).ID
	w.ann, w.bob = w.membership(w.annID), w.membership(w.bobID)
	w.theirs = fmt.Sprint(w.membership(w.Rival.NewUser("carl", account.Tester).ID))
	up := w.App("com.example.app")
	w.project, w.build = up.Project.ID, up.Build.ID
	u := w.NewUpload(fixture.APK("com.example.rival", "1.0", "1"))
	u.Writer = w.Rival.Member.Writer
	w.theirBuild = w.Upload(u).Build.ID
	return w
}

func (w *world) membership(user int64) int64 {
	return w.ID(`select id from memberships where user_id = $1`, user)
}

// caller is a user as a request has it.
func caller(u *fixture.User, organization int64) *auth.Caller {
	c := &auth.Caller{OrganizationID: organization, UserID: u.ID, Email: *u.Email, Role: u.Role}
	for _, team := range u.Teams {
		c.Teams = append(c.Teams, account.TeamPlace{ID: team.ID})
	}
	return c
}

// call sends a request; a text that begins with { is JSON, another one a form.
func (w *world) call(as *auth.Caller, method, path, text string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithCaller(w.T.Context(), as, ""), method, path, strings.NewReader(text))
	if strings.HasPrefix(text, "{") {
		r.Header.Set("Content-Type", body.TypeJSON)
	} else if text != "" {
		r.Header.Set("Content-Type", body.TypeForm)
	}
	w.engine.ServeHTTP(rec, r)
	return rec
}

type object = map[string]any

// ok sends a request that must be answered with the status.
func (w *world) ok(as *auth.Caller, status int, method, path, text string) object {
	w.T.Helper()
	rec := w.call(as, method, path, text)
	require.Equal(w.T, status, rec.Code, "%s %s: %s", method, path, rec.Body.String())
	if status == 204 {
		require.Empty(w.T, rec.Body.String())
		return nil
	}
	var tree object
	require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &tree), rec.Body.String())
	return tree
}

// refused sends a request that must be refused in the shape of its version; code is that
// of version 1, 0 in version 3.
func (w *world) refused(as *auth.Caller, status, code int, method, path, text string, says ...string) {
	w.T.Helper()
	tree := w.ok(as, status, method, path, text)
	message := tree["error"]
	if code != 0 {
		require.Equal(w.T, "fail", tree["status"])
		require.EqualValues(w.T, code, tree["code"], tree)
		message = tree["message"]
	}
	for _, part := range says {
		require.Contains(w.T, message, part)
	}
}

func items(tree object, member string) []object {
	var out []object
	for _, item := range tree[member].([]any) {
		out = append(out, item.(object))
	}
	return out
}

func texts(list []object, member string) []any {
	var out []any
	for _, item := range list {
		out = append(out, item[member])
	}
	return out
}

func keys(tree object) []string {
	var out []string
	for key := range tree {
		out = append(out, key)
	}
	return out
}

func p(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// requireTime checks a time of version 1.
func requireTime(t *testing.T, value any) {
	t.Helper()
	at, err := time.Parse(time.DateTime, value.(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().UTC(), at, time.Minute)
}
