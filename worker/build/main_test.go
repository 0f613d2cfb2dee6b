package build

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) {
	if args := os.Args[1:]; child.IsChild(args) {
		os.Exit(child.Serve(args, Operations()))
	}
	os.Exit(servicetest.Main(m))
}

// world is one organization with an app, and where its files are.
type world struct {
	t             *testing.T
	db            *storage.DB
	ledger        *ledger.Store
	objects       object.Store
	org           int64
	team, project int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	w.ledger = ledger.New(w.db)
	var err error
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	w.org = w.number(`insert into organizations (uuid, slug, name) values ($1, 'one', 'One') returning id`, uuid.New())
	w.team = w.number(`insert into teams (uuid, organization_id, name) values ($1, $2, 'Team') returning id`, uuid.New(), w.org)
	w.project = w.newProject()
	return w
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err)
}

func (w *world) newProject() int64 {
	return w.number(`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
		values ($1, $2, 'Groupshot', 'org.example.groupshot.' || $3, 'Android', $3, 'open') returning id`, w.org, w.team, uuid.NewString())
}

// newFile stores an object with its row.
func (w *world) newFile(content string) (id int64, key string) {
	w.t.Helper()
	key = storedfile.Prefix + uuid.NewString()
	_, err := object.Put(w.t.Context(), w.objects, key, strings.NewReader(content), int64(len(content)), object.WriteOptions{})
	require.NoError(w.t, err)
	return w.number(`insert into files (organization_id, object_key, size, sha256, content_type)
		values ($1, $2, $3, '', 'application/octet-stream') returning id`, w.org, key, len(content)), key
}

// newBuild stores a build of a file in a project.
func (w *world) newBuild(project, file int64) int64 {
	w.t.Helper()
	id := w.number(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind,
			file_id, file_name, release_notes)
		values ($1, $2, $3, 'Groupshot', '2.1', '21', 'Android', 'apk', $4, 'Group shot.apk', '*new*') returning id`,
		w.org, project, uuid.NewString(), file)
	w.exec(`update projects set build_count = build_count + 1, latest_build_id = $2 where id = $1`, project, id)
	return id
}

// testers inserts n testers into a group that is granted the project.
func (w *world) testers(n int) {
	w.t.Helper()
	group := w.number(`insert into tester_groups (organization_id, name) values ($1, $2) returning id`, w.org, uuid.NewString())
	w.exec(`insert into project_groups (project_id, tester_group_id) values ($1, $2)`, w.project, group)
	w.exec(`with made as (
			insert into users (uuid, username, email)
			select gen_random_uuid(), 'u' || n || '-' || $3::bigint, 'u' || n || '-' || $3::bigint || '@example.org'
			from generate_series(1, $1::int) n returning id
		), joined as (
			insert into memberships (organization_id, user_id, role) select $2, id, 'tester' from made
		)
		insert into tester_group_members (tester_group_id, user_id) select $3::bigint, id from made`, n, w.org, group)
}

func (w *world) insert(t *ledger.NewTask) uuid.UUID {
	w.t.Helper()
	_, err := ledger.Insert(w.t.Context(), w.db, t)
	require.NoError(w.t, err)
	return t.ID
}

func (w *world) claim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: id, Kind: kind.Name, Worker: "test", KeyLimit: kind.KeyLimit})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	return worker.NewClaim(w.db, claimed)
}

// reclaim claims a task again whose worker's heartbeat has expired.
func (w *world) reclaim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	w.exec(`update tasks set heartbeat_at = now() - interval '1 hour' where id = $1`, id)
	rescued, err := w.ledger.Rescue(w.t.Context(), time.Minute)
	require.NoError(w.t, err)
	require.Len(w.t, rescued, 1)
	return w.claim(kind, id)
}

// result reads the result of a task that succeeded.
func result[T any](w *world, id uuid.UUID) T {
	w.t.Helper()
	task, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, id)
	require.NoError(w.t, err)
	require.Equal(w.t, ledger.Succeeded, task.State)
	require.NotNil(w.t, task.Result)
	var out T
	require.NoError(w.t, json.Unmarshal(*task.Result, &out))
	return out
}

func (w *world) stored(key string) bool {
	w.t.Helper()
	_, err := w.objects.Stat(w.t.Context(), key)
	if err != nil {
		require.ErrorIs(w.t, err, object.ErrNotFound)
	}
	return err == nil
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// crashes is a Crashes that records the builds, and fails for those in fail.
type crashes struct {
	builds []int64
	fail   map[int64]error
}

func (c *crashes) RemoveOfBuilds(ctx context.Context, claim *worker.Claim, organization int64, builds ...int64) error {
	if organization == 0 {
		return fmt.Errorf("builds %v of no organization", builds)
	}
	c.builds = append(c.builds, builds...)
	for _, build := range builds {
		if err := c.fail[build]; err != nil {
			return err
		}
	}
	return claim.Checkpoint(ctx, func(*storage.Tx) error { return nil })
}
