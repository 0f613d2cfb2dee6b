package install_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/install"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is an organization with two builds and two testers.
type world struct {
	*fixture.Fixture
	build, other int64
	ann, bob     int64
}

func newWorld(t *testing.T) *world {
	f := fixture.New(t)
	return &world{Fixture: f, build: f.App("com.example.shop").Build.ID, other: f.App("com.example.other").Build.ID,
		ann: f.Org.NewUser("ann", account.Tester).ID, bob: f.Org.NewUser("bob", account.Tester).ID}
}

func (w *world) seen(build, user int64, channel install.Channel, device string) install.Seen {
	return install.Seen{OrganizationID: w.Org.ID, BuildID: build, UserID: user, Channel: channel, Device: device}
}

func (w *world) record(seen ...install.Seen) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return install.Record(ctx, tx, seen) })
}

// ways are the rows of a build as text, the newest first.
func (w *world) ways(organization, build int64, f install.Filter) (list []string) {
	w.T.Helper()
	found, err := install.OfBuild(fixture.Context(w.T), w.DB, organization, build, f, storage.Page{Limit: 100})
	require.NoError(w.T, err)
	require.Equal(w.T, storage.Total{Rows: len(found.Installs), Exact: true}, found.Total)
	for _, i := range found.Installs {
		list = append(list, fmt.Sprint(i.Email, " ", i.Channel, " ", i.Device, " ", i.Count))
	}
	return list
}

func TestRecordCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	carl := w.Rival.NewUser("carl", account.Tester).ID
	w.record()
	w.record(w.seen(w.build, w.ann, install.Page, "Pixel 8, Android 15"))
	w.record(w.seen(w.build, w.ann, install.Page, "Pixel 8, Android 15"), w.seen(w.build, w.ann, install.Page, "Pixel 8, Android 15"))
	w.record(w.seen(w.build, w.ann, install.Session, "Pixel 8, Android 15"))
	w.record(w.seen(w.build, 0, install.Page, "Pixel 9, Android 16"), w.seen(w.build, 0, install.Page, "Pixel 7"))
	w.record(w.seen(w.build, carl, install.Page, "of a member of another organization"))
	w.record(w.seen(w.build, w.bob, install.Manifest, "iPhone14,5\x00"))
	w.record(w.seen(w.other, w.bob, install.API, ""))
	const ann, bob = "ann@acme.example.com", "bob@acme.example.com"
	require.Equal(t, []string{bob + " manifest iPhone14,5� 1", " page  3", ann + " session Pixel 8, Android 15 1",
		ann + " page Pixel 8, Android 15 3"},
		w.ways(w.Org.ID, w.build, install.Filter{}))
	require.Equal(t, []string{" page  3", ann + " page Pixel 8, Android 15 3"}, w.ways(w.Org.ID, w.build,
		install.Filter{Channel: install.Page}))
	require.Equal(t, []string{bob + " manifest iPhone14,5� 1"}, w.ways(w.Org.ID, w.build, install.Filter{UserID: w.bob}))
	require.Equal(t, []string{ann + " session Pixel 8, Android 15 1"}, w.ways(w.Org.ID, w.build,
		install.Filter{UserID: w.ann, Channel: install.Session}))
	require.Empty(t, w.ways(w.Rival.ID, w.build, install.Filter{}), "of another organization")

	people, err := install.PeopleOf(fixture.Context(t), w.DB, w.Org.ID, w.build)
	require.NoError(t, err)
	require.Equal(t, install.People{Downloaded: 2, Installed: 1, Exact: true}, people)
	people, err = install.PeopleOf(fixture.Context(t), w.DB, w.Rival.ID, w.build)
	require.NoError(t, err)
	require.Equal(t, install.People{Exact: true}, people)

	theirs, err := install.OfUser(fixture.Context(t), w.DB, w.Org.ID, w.bob, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, storage.Total{Rows: 2, Exact: true, Next: true}, theirs.Total)
	require.Equal(t, w.other, theirs.Installs[0].BuildID)
	require.Equal(t, account.Tester, account.Role(theirs.Installs[0].Role))
	w.Exec(`update builds set deleted_at = now() where id = $1`, w.other)
	theirs, err = install.OfUser(fixture.Context(t), w.DB, w.Org.ID, w.bob, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, storage.Total{Rows: 1, Exact: true}, theirs.Total)
	theirs, err = install.OfUser(fixture.Context(t), w.DB, w.Rival.ID, w.bob, storage.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, theirs.Installs)

	w.Exec(`delete from memberships where organization_id = $1 and user_id = $2`, w.Org.ID, w.ann)
	require.Len(t, w.ways(w.Org.ID, w.build, install.Filter{}), 2, "with the membership its rows are gone")
	w.record(w.seen(w.build, w.ann, install.Page, "Pixel 8"))
	require.Contains(t, w.ways(w.Org.ID, w.build, install.Filter{}), " page  4", "who left is nobody known")
	w.Exec(`delete from builds where id = $1`, w.other)
	require.Zero(t, w.Count(`select count(*) from build_installs where build_id = $1`, w.other))
}

// A client that invents devices fills a bounded number of rows, one statement or many.
func TestDevicesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var many []install.Seen
	for i := range 30 {
		many = append(many, w.seen(w.build, w.ann, install.Session, fmt.Sprint("device ", i)))
		w.record(w.seen(w.build, w.bob, install.Session, fmt.Sprint("device ", i)))
	}
	w.record(many...)
	w.record(many...)
	long := w.seen(w.build, w.bob, install.Page, strings.Repeat("ü", 10_000))
	w.record(long)
	w.record(long)
	for user, counted := range map[int64]int{w.ann: 60, w.bob: 30} {
		require.Equal(t, 20, w.Count(`select count(*) from build_installs where user_id = $1 and channel = 'session'`, user))
		require.Equal(t, counted, w.Count(`select sum(count) from build_installs where user_id = $1 and channel = 'session'`, user))
	}
	require.Equal(t, 2, w.Count(`select count from build_installs where user_id = $1 and channel = 'page'`, w.bob))
}

// Transactions that record the same people of several builds, and one that removes them,
// wait for each other and do not deadlock.
func TestRecordTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	errs := make(chan error, 100)
	for n := range 4 {
		group.Go(func() {
			for i := range 10 {
				seen := []install.Seen{w.seen(w.build, w.ann, install.Session, fmt.Sprint(i%3)), w.seen(w.build, w.bob, install.Session, "x"),
					w.seen(w.other, w.bob, install.Page, fmt.Sprint(i%2)), w.seen(w.other, w.ann, install.Page, "")}
				if n%2 == 1 {
					seen[0], seen[1], seen[2], seen[3] = seen[3], seen[2], seen[1], seen[0]
				}
				errs <- w.Do(func(ctx context.Context, tx *storage.Tx) error {
					if _, err := tx.ExecContext(ctx,
						`select from builds where id = any(array[$1, $2]::bigint[]) order by id for no key update`, w.build, w.other); err != nil {
						return err
					}
					return install.Record(ctx, tx, seen)
				})
			}
		})
	}
	group.Go(func() {
		errs <- w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := tx.ExecContext(ctx, `delete from memberships where organization_id = $1 and user_id = $2`, w.Org.ID, w.ann)
			return err
		})
	})
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Zero(t, w.Count(`select count(*) from build_installs where user_id = $1`, w.ann))
	require.Equal(t, 80, w.Count(`select sum(count) from build_installs where user_id = $1`, w.bob))
}

// The lists read their indexes, and no more of them than a page needs.
func TestListsReadTheirIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec(`with u as (insert into users (uuid, username, email) select gen_random_uuid(), 'many' || n, 'many' || n || '@example.com'
			from generate_series(1, 3000) n returning id), m as (
			insert into memberships (organization_id, user_id, role) select $1, id, 'tester' from u returning user_id)
		select count(*) from m`, w.Org.ID)
	w.Exec(`insert into build_installs (organization_id, build_id, user_id, channel) select $1, $2, m.user_id, c
		from memberships m, unnest(array['page', 'api', 'manifest']) c where m.organization_id = $1`, w.Org.ID, w.build)
	w.Exec(`analyze build_installs`)
	looks := func(index string) func(query string, args []any) {
		return func(query string, args []any) {
			t.Helper()
			var lines []string
			require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain `+query, args...))
			text := strings.Join(lines, "\n")
			require.Contains(t, text, index)
			require.NotContains(t, text, "Seq Scan on build_installs")
			require.NotContains(t, strings.SplitN(text, "SubPlan", 2)[0], "Sort", "the index has the order")
		}
	}
	looks("build_installs_build")(install.BuildRows(w.Org.ID, w.build, install.Filter{}))
	looks("build_installs_channel")(install.BuildRows(w.Org.ID, w.build, install.Filter{Channel: install.Page}))
	looks("build_installs_member")(install.UserRows(w.Org.ID, w.ann))
	query, args := install.PeopleRows(w.Org.ID, w.build)
	var lines []string
	require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain `+query, args...))
	require.Contains(t, strings.Join(lines, "\n"), "build_installs_way")
}
