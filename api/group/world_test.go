package group_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/group"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is an organization with two teams, its people as callers, and the room.
type world struct {
	*fixture.Fixture
	engine *gin.Engine

	owner    *auth.Caller // of the organization
	lead     *auth.Caller // admin of team main, member of team side
	member   *auth.Caller // of team main
	neighbor *auth.Caller // admin of team side
	tester   *auth.Caller
	stranger *auth.Caller // owner of another organization
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	w.Org.AddSide()
	main, side := w.Org.Team.ID, w.Org.Side.ID
	w.owner = callerOf(w.Org, w.Org.Owner)
	w.member = callerOf(w.Org, w.Org.Member, account.TeamPlace{ID: main})
	w.neighbor = callerOf(w.Org, w.Org.Neighbor, account.TeamPlace{ID: side, Admin: true})
	w.lead = callerOf(w.Org, w.Org.NewUser("lead", account.Member, w.Org.Team, w.Org.Side),
		account.TeamPlace{ID: main, Admin: true}, account.TeamPlace{ID: side})
	w.tester = callerOf(w.Org, w.Org.NewUser("tester", account.Tester))
	w.stranger = callerOf(w.Rival, w.Rival.Owner)
	w.Exec(`update team_memberships set admin = true where (team_id, user_id) in (($1, $2), ($3, $4))`,
		main, w.lead.UserID, side, w.neighbor.UserID)
	view := func(p *distribution.Project) any { return map[string]any{"id": p.ID, "name": p.Name} }
	w.engine = routetest.Engine(routetest.ByContext, group.New(group.Config{DB: w.DB, ProjectView: view}).Routes()...)
	return w
}

func callerOf(o *fixture.Organization, u *fixture.User, teams ...account.TeamPlace) *auth.Caller {
	return &auth.Caller{OrganizationID: o.ID, UserID: u.ID, UserUUID: u.UUID, Email: u.Label(), Role: u.Role, Teams: teams}
}

// group makes a group of a team.
func (w *world) group(name string, team int64, users ...int64) (id int64) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		g, err := testergroup.CreateInTeam(ctx, tx, w.Org.Owner.Writer, testergroup.NewGroup{Name: name, TeamID: team})
		if err != nil {
			return err
		}
		id = g.ID
		_, err = testergroup.AddMembers(ctx, tx, w.Org.Owner.Writer, id, users)
		return err
	})
	return id
}

// call sends a request; a text that begins with { is JSON, another one a form.
func (w *world) call(as *auth.Caller, method, path, text string) *httptest.ResponseRecorder {
	w.T.Helper()
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithCaller(w.T.Context(), as, ""), method, path, strings.NewReader(text))
	switch {
	case strings.HasPrefix(text, "{"):
		r.Header.Set("Content-Type", body.TypeJSON)
	case text != "":
		r.Header.Set("Content-Type", body.TypeForm)
	}
	w.engine.ServeHTTP(rec, r)
	return rec
}

// ok sends a request that must be answered with the status.
func (w *world) ok(as *auth.Caller, status int, method, path, text string) map[string]any {
	w.T.Helper()
	rec := w.call(as, method, path, text)
	require.Equal(w.T, status, rec.Code, "%s %s: %s", method, path, rec.Body)
	if rec.Body.Len() == 0 {
		return nil
	}
	var tree map[string]any
	require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &tree), rec.Body.String())
	return tree
}

// refused sends a request that must be refused in the shape of version 3.
func (w *world) refused(as *auth.Caller, status int, method, path, text string, says ...string) {
	w.T.Helper()
	tree := w.ok(as, status, method, path, text)
	require.Len(w.T, tree, 1)
	for _, part := range says {
		require.Contains(w.T, tree["error"], part)
	}
}

// refused1 does so in the shape of versions 1 and 2.
func (w *world) refused1(as *auth.Caller, status, code int, method, path, text string, says ...string) {
	w.T.Helper()
	tree := w.ok(as, status, method, path, text)
	require.Equal(w.T, "fail", tree["status"])
	require.EqualValues(w.T, code, tree["code"], tree)
	for _, part := range says {
		require.Contains(w.T, tree["message"], part)
	}
}

func p(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// at walks down a tree of objects and arrays.
func at(tree any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			tree = tree.(map[string]any)[s]
		case int:
			tree = tree.([]any)[s]
		}
	}
	return tree
}

// members are a member of all objects of an array.
func members(list any, name string) []any {
	out := []any{}
	for _, item := range list.([]any) {
		out = append(out, item.(map[string]any)[name])
	}
	return out
}

func keys(of any) []string {
	out := []string{}
	for key := range of.(map[string]any) {
		out = append(out, key)
	}
	return out
}
