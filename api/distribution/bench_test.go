package distribution_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const fillProject = `
insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, package_name, kind, abis, signer,
	file_id, file_name, release_notes, tags, metadata)
select b.organization_id, b.project_id, md5('bench' || n), b.app_name, '1.' || n, n::text, b.platform, b.package_name, b.kind,
	'{arm64-v8a,armeabi-v7a}', '{"scheme":"v2","schemes":["v1","v2"],"sha256":"ab"}', b.file_id, b.file_name, repeat('notes ', 20),
	'{rc,nightly}', '{"branch":"main","commit":"0123456789abcdef"}'
from builds b, generate_series(1, $2::int) n where b.id = $1`

// BenchmarkLists reads lists of a project that has 100,000 builds. The target of
// version 2 is 20 ms for 99 of 100 requests.
func BenchmarkLists(b *testing.B) {
	w := newWorld(b)
	up := w.build()
	const builds = 100_000
	_, err := w.db.ExecContext(b.Context(), fillProject, up.Build.ID, builds)
	require.NoError(b, err)
	_, err = w.db.ExecContext(b.Context(),
		`update projects set build_count = $2, latest_build_id = (select max(id) from builds) where id = $1`, up.Project.ID, builds+1)
	require.NoError(b, err)
	_, err = w.db.ExecContext(b.Context(), `vacuum analyze builds`)
	require.NoError(b, err)
	for name, path := range map[string]string{
		"v2": "/api/2/projects/%d/builds", "v2/100": "/api/2/projects/%d/builds?per_page=100",
		"v2/middle": "/api/2/projects/%d/builds?page=2000", "v2/last": "/api/2/projects/%d/builds?page=4000",
		"v3": "/api/v3/projects/%d/builds", "v3/version": "/api/v3/projects/%d/builds?version=1.77",
		"v3/search": "/api/v3/projects/%d/builds?search=abcdefx", "v1": "/api/1/projects/%d/builds",
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				require.Equal(b, 200, w.call(w.member, "GET", p(path, up.Project.ID), "").Code)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
		})
	}
}
