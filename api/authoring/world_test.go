package authoring_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

const (
	base     = "https://qa.example.com"
	prefix   = "/v1/ai-authoring"
	noCase   = "0123456789abcdef01234567"
	noUUID   = "01890000-0000-7000-8000-000000000000"
	metadata = "http://169.254.169.254/latest/meta-data/"
)

// world is an organization with two teams, and one of strangers.
type world struct {
	t      testing.TB
	db     *storage.DB
	engine *gin.Engine
	ours   *account.Organization
	one    *account.Team // teams of ours
	two    *account.Team

	owner    *auth.Caller // of the organization, in no team
	member   *auth.Caller // of team one
	neighbor *auth.Caller // of team two
	both     *auth.Caller // of both teams; one is the default
	stranger *auth.Caller // admin of another organization
}

// newWorld returns a world; the options change the configuration of the handlers.
func newWorld(t testing.TB, options ...func(*handler.Config)) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	var theirs *account.Organization
	var abroad *account.Team
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		w.ours, err = account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "ours"})
		require.NoError(t, err)
		theirs, err = account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "theirs"})
		require.NoError(t, err)
		for _, team := range []struct {
			into *(*account.Team)
			org  int64
			name string
		}{{&w.one, w.ours.ID, "one"}, {&w.two, w.ours.ID, "two"}, {&abroad, theirs.ID, "abroad"}} {
			*team.into, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: team.org, Name: team.name})
			require.NoError(t, err)
		}
		return nil
	})
	w.owner = w.person(w.ours, "owner", account.Owner)
	w.member = w.person(w.ours, "member", account.Member, w.one)
	w.neighbor = w.person(w.ours, "neighbor", account.Member, w.two)
	w.both = w.person(w.ours, "both", account.Member, w.one, w.two)
	w.stranger = w.person(theirs, "stranger", account.Owner, abroad)
	cfg := handler.Config{DB: w.db, SealKeys: seal.Ring{make([]byte, 32)}, PublicURL: base + "/", Vendor: "slipway", CheckURL: checkURL}
	for _, option := range options {
		option(&cfg)
	}
	w.engine = w.router(cfg)
	return w
}

// checkURL refuses what the service's own check refuses by the text alone.
func checkURL(_ context.Context, address string) error {
	if !strings.HasPrefix(address, "http") || strings.HasPrefix(address, strings.TrimSuffix(metadata, "/")) {
		return errors.New("the address is not allowed")
	}
	return nil
}

func (w *world) tx(do func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error { return do(w.t.Context(), tx) }))
}

func (w *world) person(org *account.Organization, name string, role account.Role, teams ...*account.Team) *auth.Caller {
	var user *account.User
	caller := &auth.Caller{OrganizationID: org.ID, OrganizationUUID: org.UUID, Username: name, Role: role}
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		user, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org.ID,
			Email: name + "@example.com", Name: "Person " + name, Role: role})
		return err
	})
	for _, team := range teams {
		caller.Teams = append(caller.Teams, account.TeamPlace{ID: team.ID})
	}
	caller.UserID, caller.UserUUID = user.ID, user.UUID
	return caller
}

// call sends a request below the prefix; text is JSON.
func (w *world) call(as *auth.Caller, method, path, text string, headers ...string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithCaller(w.t.Context(), as, ""), method, prefix+path, strings.NewReader(text))
	if text != "" {
		r.Header.Set("Content-Type", body.TypeJSON)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w.engine.ServeHTTP(rec, r)
	return rec
}

// tree is an object of an answer.
type tree = map[string]any

// ok sends a request that must succeed with the status, and gives its data.
func (w *world) ok(as *auth.Caller, status int, method, path, text string) tree {
	w.t.Helper()
	rec := w.call(as, method, path, text)
	require.Equal(w.t, status, rec.Code, rec.Body.String())
	if status == 204 {
		require.Empty(w.t, rec.Body.Bytes())
		return nil
	}
	var answer tree
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body.String())
	require.Len(w.t, answer, 1)
	return answer["data"].(tree)
}

// refused sends a request that must be refused with the status and code.
func (w *world) refused(as *auth.Caller, status int, code, method, path, text string, says ...string) {
	w.t.Helper()
	rec := w.call(as, method, path, text)
	require.Equal(w.t, status, rec.Code, "%s %s %s: %s", method, path, text, rec.Body.String())
	var answer struct {
		Error struct{ Code, Detail string }
	}
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body.String())
	require.Equal(w.t, code, answer.Error.Code, rec.Body.String())
	require.NotEmpty(w.t, answer.Error.Detail)
	for _, part := range says {
		require.Contains(w.t, answer.Error.Detail, part)
	}
}

// importText is the body of an import: a case that opens an address and clicks.
// The members are added to it, or take the place of those of their name.
func importText(t testing.TB, name string, members tree) string {
	t.Helper()
	all := tree{"name": name,
		"runSettings": tree{"testUrl": "https://shop.example.com/", "target": tree{"capabilities": tree{"browserName": "chrome"}}},
		"steps": []any{
			tree{"tool": tree{"type": "go_to_url", "args": tree{"url": "/login"}}},
			tree{"tool": tree{"type": "click", "args": tree{"selector": tree{"type": "css", "value": "#go"}}}},
		}}
	for member, value := range members {
		all[member] = value
		if value == nil {
			delete(all, member)
		}
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// newCase imports a case and gives its id.
func (w *world) newCase(as *auth.Caller, name string, members tree) string {
	w.t.Helper()
	return w.ok(as, 201, "POST", "/testcases", importText(w.t, name, members))["id"].(string)
}

// newSuite returns a suite of cases and gives its id.
func (w *world) newSuite(as *auth.Caller, name string, cases ...string) string {
	w.t.Helper()
	text, err := json.Marshal(tree{"name": name, "testCases": cases})
	require.NoError(w.t, err)
	return w.ok(as, 201, "POST", "/testsuites", string(text))["id"].(string)
}

func p(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// bare is a UUID without dashes, in upper case.
func bare(id any) string { return strings.ToUpper(strings.ReplaceAll(fmt.Sprint(id), "-", "")) }

// names returns a member of the items of a list.
func names(list tree, member string) []string {
	out := []string{}
	for _, item := range list["items"].([]any) {
		out = append(out, item.(tree)[member].(string))
	}
	return out
}

// requireTime checks a time of an answer.
func requireTime(t testing.TB, value any) {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000Z", value.(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)
}

func requireUUID(t testing.TB, value any) {
	t.Helper()
	_, err := uuid.Parse(value.(string))
	require.NoError(t, err)
}

func jsonOf(text string, into any) error { return json.Unmarshal([]byte(text), into) }
