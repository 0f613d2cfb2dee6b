package distribution_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// world is an organization with one team and its member, and another
// organization.
type world struct {
	t     *testing.T
	db    *storage.DB
	org   int64
	other int64
	team  int64
	user  int64
	actor account.Actor
	w     account.Writer
	keys  *atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), actor: account.CLI(), keys: new(atomic.Int64)}
	w.org, w.other = w.organization("acme"), w.organization("rival")
	w.team = w.newTeam(w.org, "main")
	w.user = w.member(w.org, "dev@example.com", account.Member)
	w.w = account.Writer{OrganizationID: w.org, Actor: account.Actor{UserID: w.user, Name: "dev@example.com"}, Teams: []int64{w.team}}
	return w
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
		o, err := account.CreateOrganization(ctx, tx, w.actor, account.NewOrganization{Slug: slug})
		if err == nil {
			id = o.ID
		}
		return err
	})
	return id
}

func (w *world) newTeam(org int64, name string) (id int64) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		team, err := account.CreateTeam(ctx, tx, w.actor, account.NewTeam{OrganizationID: org, Name: name})
		if err == nil {
			id = team.ID
		}
		return err
	})
	return id
}

func (w *world) member(org int64, email string, role account.Role) (id int64) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, w.actor, account.NewUser{OrganizationID: org, Email: email, Role: role})
		if err == nil {
			id = u.ID
		}
		return err
	})
	return id
}

// file is an object that no other file has.
func (w *world) file() NewFile {
	n := w.keys.Add(1)
	return NewFile{Key: fmt.Sprintf("%stest-%d", Prefix, n), Size: 1000 + n, SHA256: fmt.Sprintf("%064x", n),
		ContentType: "application/octet-stream"}
}

func apk(name, version, code string) *artifact.Package {
	return &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "App", PackageName: name,
		Version: version, VersionCode: code, MinOSVersion: "24", ABIs: []string{"arm64-v8a"},
		Signer: &artifact.Signer{Scheme: "v2", SHA256: "ab", Subject: "CN=\x00"}}
}

// of is an upload of a package.
func (w *world) of(pkg *artifact.Package) Upload {
	return Upload{Writer: w.w, Via: "v3", Package: pkg, File: w.file(), FileName: "app-release.apk"}
}

func (w *world) try(u Upload) (up *Uploaded, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		up, err = CreateBuild(ctx, tx, u)
		return err
	})
	return up, err
}

func (w *world) upload(u Upload) *Uploaded {
	w.t.Helper()
	up, err := w.try(u)
	require.NoError(w.t, err)
	return up
}

// app uploads a package once.
func (w *world) app(name string) *Uploaded {
	w.t.Helper()
	return w.upload(w.of(apk(name, "1.0", "1")))
}

func (w *world) group(name string, users ...int64) (id int64) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		g, err := CreateGroup(ctx, tx, w.actor, w.org, name, false)
		if err != nil {
			return err
		}
		id = g.ID
		for _, user := range users {
			if err := AddToGroup(ctx, tx, w.actor, w.org, g.ID, user); err != nil {
				return err
			}
		}
		return nil
	})
	return id
}

func (w *world) set(c SettingsChange) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ChangeSettings(ctx, tx, w.actor, w.org, c)
		return err
	})
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(testContext(w.t), &n, query, args...))
	return n
}

// folders lists the paths of a team's folders.
func (w *world) folders(team int64) (paths []string) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(testContext(w.t), &paths, `select path from folders where team_id = $1 order by path`, team))
	return paths
}

// audited counts rows of the audit log.
func (w *world) audited(types account.AuditType) int {
	w.t.Helper()
	return w.count(`select count(*) from audit_events where type = $1`, int(types))
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

// checkCounters compares each project's counters with its builds.
func (w *world) checkCounters() {
	w.t.Helper()
	require.Zero(w.t, w.count(`select count(*) from projects p where p.deleted_at is null and (
		p.build_count <> (select count(*) from builds b where b.project_id = p.id and b.deleted_at is null)
		or coalesce(p.latest_build_id, 0) <> coalesce((select max(id) from builds b where b.project_id = p.id and b.deleted_at is null), 0))`))
}
