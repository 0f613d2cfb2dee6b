package library

import (
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// build inserts a build of an app, and gives it all symbols of the organization.
func (w *world) build() (id int64) {
	w.t.Helper()
	insert := func(query string, args ...any) (id int64) {
		require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, query+` returning id`, args...))
		return id
	}
	team := insert(`insert into teams (uuid, organization_id, name) values (gen_random_uuid(), $1, 't')`, w.org)
	app := insert(`insert into projects (organization_id, team_id, name, token, landing_page_mode) values ($1, $2, 'app', $3, 'open')`,
		w.org, team, uuid.NewString())
	file := insert(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, 'x', 'x')`,
		w.org, uuid.NewString())
	id = insert(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind, file_id, file_name)
		values ($1, $2, $3, 'app', '1', '1', 'Android', 'apk', $4, 'a.apk')`, w.org, app, uuid.NewString(), file)
	_, err := w.db.ExecContext(w.t.Context(), `update symbols set build_id = $2 where organization_id = $1`, w.org, id)
	require.NoError(w.t, err)
	return id
}

// A mapping without an id is found by the build that it came with, and has its name.
func TestOpenByBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.file(w.org, symbolfile.File{Kind: symbol.ProGuard, Features: []string{"functions"}}, mapping(t, 1))
	build := w.build()
	q := w.query(w.org, "none")
	q.BuildID = build
	h, err := w.open(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, symbol.Identifier{Type: symbolfile.BuildIdentifier, Value: strconv.FormatInt(build, 10)}, h.By)
	require.Equal(t, "upload", h.Name)
	q.BuildID = build + 1
	_, err = w.open(t.Context(), q)
	require.ErrorIs(t, err, ErrMissing)
	q.BuildID, q.org = build, w.organization("other")
	_, err = w.open(t.Context(), q)
	require.ErrorIs(t, err, ErrMissing, "another organization's")
}
