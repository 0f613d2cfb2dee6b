package distribution_test

import (
	"context"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/migrations"
)

// The step that brings platforms to one spelling keeps every app and build, and marks
// those that are a second one of their package.
func TestMigrationOfPlatforms(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := func(query string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(ctx, query, args...)
		require.NoError(t, err)
	}
	run(`drop schema public cascade; create schema public`)
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files)
	require.NoError(t, err)
	_, err = p.UpTo(ctx, 72)
	require.NoError(t, err)
	run(`insert into organizations (id, uuid, slug, name) overriding system value values (1, gen_random_uuid(), 'main', 'Main')`)
	run(`insert into teams (id, uuid, organization_id, name) overriding system value values (1, gen_random_uuid(), 1, 'A'), (2, gen_random_uuid(), 1, 'B')`)
	run(`insert into folders (id, team_id, path) overriding system value values (1, 1, 'beta')`)
	run(`insert into projects (id, organization_id, team_id, folder_id, name, package_name, platform, token, landing_page_mode, build_count, deleted_at) overriding system value
		values (1, 1, 1, null, 'made by hand', 'com.example.shop', 'ios', 'a', 'open', 0, null),
			(2, 1, 1, null, 'by upload', 'com.example.shop', 'iOS', 'b', 'open', 2, null),
			(3, 1, 1, null, 'a copy', 'com.example.shop', 'iOS', 'c', 'open', 1, null),
			(4, 1, 1, 1, 'in a folder', 'com.example.shop', 'iOS', 'd', 'open', 0, null),
			(5, 1, 2, null, 'of another team', 'com.example.shop', ' IOS ', 'e', 'open', 0, null),
			(6, 1, 1, null, 'deleted', 'com.example.shop', 'iOS', 'f', 'open', 0, now()),
			(7, 1, 1, null, 'free text', 'com.example.old', 'Amiga', 'g', 'open', 0, null),
			(8, 1, 1, null, 'game', '', 'windows', 'h', 'open', 1, null),
			(9, 1, 1, null, 'game', '', 'switch', 'i', 'open', 1, null)`)
	run(`insert into files (id, organization_id, object_key, size, sha256, content_type) overriding system value values (1, 1, 'builds/x', 1, repeat('0', 64), '')`)
	run(`insert into builds (id, organization_id, project_id, token, app_name, platform, kind, file_id, file_name) overriding system value
		values (1, 1, 8, 'j', 'game', 'windows', 'generic', 1, 'game.exe'), (2, 1, 2, 'k', 'shop', 'iOS', 'ipa', 1, 'shop.ipa'),
			(3, 1, 8, 'l', 'game', 'macos', 'generic', 1, 'game.dmg')`)

	_, err = p.UpTo(ctx, 87)
	require.NoError(t, err)
	// A program of before makes a second app between the steps.
	run(`insert into projects (id, organization_id, team_id, name, package_name, platform, token, landing_page_mode) overriding system value
		values (10, 1, 1, 'meanwhile', 'com.example.shop', 'ios', 'm', 'open')`)
	_, err = p.UpTo(ctx, 88)
	require.NoError(t, err)
	type row struct {
		ID          int64  `db:"id"`
		Platform    string `db:"platform"`
		DuplicateOf int64  `db:"duplicate_of"`
	}
	var projects, builds []row
	require.NoError(t, db.SelectContext(ctx, &projects,
		`select id, platform, coalesce(duplicate_of, 0) as duplicate_of from projects order by id`))
	require.Equal(t, []row{{1, "iOS", 2}, {2, "iOS", 0}, {3, "iOS", 2}, {4, "iOS", 0}, {5, "iOS", 0}, {6, "iOS", 0}, {7, "", 0},
		{8, "Windows", 0}, {9, "Switch", 0}, {10, "ios", 2}}, projects)
	require.NoError(t, db.SelectContext(ctx, &builds, `select id, platform, 0 as duplicate_of from builds order by id`))
	require.Equal(t, []row{{1, "Windows", 0}, {2, "iOS", 0}, {3, "macOS", 0}}, builds)
	_, err = db.ExecContext(ctx,
		`insert into projects (id, organization_id, team_id, name, package_name, platform, token, landing_page_mode) overriding system value
		values (100, 1, 1, 'new', 'com.example.shop', 'IOS', 'z', 'open')`)
	require.ErrorContains(t, err, "projects_app")
}
