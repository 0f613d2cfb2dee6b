package authoring_test

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// sealKey seals the secrets of tests.
var sealKey = bytes.Repeat([]byte("k"), 32)

// world is an organization with two teams and their members, and another
// organization with one team.
type world struct {
	t  *testing.T
	db *storage.DB

	org, rivalOrg    int64
	team, side       *account.Team // of org
	rivalTeam        *account.Team // of rivalOrg
	dev, other, boss *account.User // member of team, member of side, admin of org without a team
	rivalDev         *account.User
	w, sideW         account.Writer // dev and other
	admin            account.Writer // boss
	rival            account.Writer // rivalDev
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	w.org, w.rivalOrg = w.organization("acme"), w.organization("rival")
	w.team, w.side, w.rivalTeam = w.newTeam(w.org, "main"), w.newTeam(w.org, "side"), w.newTeam(w.rivalOrg, "main")
	w.dev = w.user(w.org, "dev@example.com", "Dev Eloper", account.Member, w.team.ID)
	w.other = w.user(w.org, "other@example.com", "", account.Member, w.side.ID)
	w.boss = w.user(w.org, "boss@example.com", "Boss", account.Admin, 0)
	w.rivalDev = w.user(w.rivalOrg, "rival@example.com", "Rival", account.Member, w.rivalTeam.ID)
	w.w, w.sideW = writerOf(w.dev, w.org, w.team.ID), writerOf(w.other, w.org, w.side.ID)
	w.rival = writerOf(w.rivalDev, w.rivalOrg, w.rivalTeam.ID)
	w.admin = writerOf(w.boss, w.org)
	w.admin.Admin, w.admin.AllTeams = true, true
	return w
}

func writerOf(u *account.User, org int64, teams ...int64) account.Writer {
	return account.Writer{OrganizationID: org, UserUUID: u.UUID, Teams: teams,
		Actor: account.Actor{UserID: u.ID, Name: u.Label(), RequestID: "r1"}}
}

// do runs fn in a transaction and gives its error.
func (w *world) do(fn func(context.Context, *storage.Tx) error) error {
	ctx := testContext(w.t)
	return w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) })
}

func (w *world) must(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.do(fn))
}

func (w *world) organization(slug string) (id int64) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: slug})
		if err == nil {
			id = o.ID
		}
		return err
	})
	return id
}

func (w *world) newTeam(org int64, name string) (team *account.Team) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		team, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: org, Name: name})
		return err
	})
	return team
}

func (w *world) user(org int64, email, name string, role account.Role, team int64) (u *account.User) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		u, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: email, Name: name,
			Role: role, TeamID: team})
		return err
	})
	return u
}

// browser is a target.
func browser(name string) step.Target {
	return step.Target{Capabilities: step.Capabilities{"browserName": name}}
}

// loginCase is a case of two steps to create, with so many targets.
func loginCase(name string, targets int) NewCase {
	text := "{{user}}"
	n := NewCase{Name: name, Settings: step.RunSettings{TestURL: "https://shop.example.com/"},
		Revision: Revision{Intent: "log in", Steps: []step.Step{
			{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text,
				Selector: &step.Selector{Type: step.CSS, Value: "#user"}}}},
			{ID: "s2", Tool: step.Tool{Type: step.Click, Args: step.Args{
				Selector: &step.Selector{Type: step.CSS, Value: "#login"}}}},
		}}}
	for i := range targets {
		n.Settings.RunTargets = append(n.Settings.RunTargets, browser([]string{"chrome", "firefox", "safari"}[i%3]))
	}
	if targets > 0 {
		n.Settings.PrimaryTarget = &n.Settings.RunTargets[0]
	}
	return n
}

func (w *world) tryCase(by account.Writer, n NewCase) (c *Case, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		c, err = CreateCase(ctx, tx, by, n)
		return err
	})
	return c, err
}

// newCase makes a case of the writer's default team with one target.
func (w *world) newCase(by account.Writer, name string) *Case {
	w.t.Helper()
	c, err := w.tryCase(by, loginCase(name, 1))
	require.NoError(w.t, err)
	return c
}

func (w *world) trySuite(by account.Writer, n NewSuite) (s *Suite, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		s, err = CreateSuite(ctx, tx, by, n)
		return err
	})
	return s, err
}

// newSuite makes a suite of cases.
func (w *world) newSuite(by account.Writer, name string, cases ...string) *Suite {
	w.t.Helper()
	s, err := w.trySuite(by, NewSuite{Name: name, Cases: cases})
	require.NoError(w.t, err)
	return s
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(testContext(w.t), &n, query, args...))
	return n
}

// audited counts rows of the audit log.
func (w *world) audited(of account.AuditType) int {
	w.t.Helper()
	return w.count(`select count(*) from audit_events where type = $1`, int(of))
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(testContext(w.t), query, args...)
	require.NoError(w.t, err)
}

// invalidField is the member that an *InvalidError names.
func invalidField(t *testing.T, err error) string {
	t.Helper()
	var bad *storage.InvalidError
	require.ErrorAs(t, err, &bad)
	return bad.Field
}

func ptr[T any](v T) *T { return &v }

// noUUID is an id that nothing has.
var noUUID = uuid.MustParse("01890000-0000-7000-8000-000000000000")
