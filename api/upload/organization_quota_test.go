package upload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/symbol"
	quotas "github.com/slipway-qa/slipway/storage/quota"
)

// An upload beyond a quota of its organization is refused with what is used, in each shape,
// and leaves no object behind.
func TestUploadBeyondQuota(t *testing.T) {
	t.Parallel()
	bounds, err := quotas.New(quotas.Bounds{quotas.Builds: 2})
	require.NoError(t, err)
	w := newWorld(t, false, func(c *Config) {
		c.Quotas, c.Symbols = bounds, symbol.NewStore(c.DB, nil, bounds)
	})
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "2")))
	stored := w.objects()
	status, out := w.post("/api/upload/", nil, w.key(), file("file", "a.ipa", ipa("com.example.demo", "3")))
	require.Equal(t, 413, status, out)
	require.Equal(t, "fail", out["status"])
	require.EqualValues(t, 413, out["code"])
	require.Contains(t, out["message"], "quota builds is used up: 2 of 2 are used; delete builds")
	status, out = w.post("/api/v3/builds/upload", nil, w.key(), file("file", "a.ipa", ipa("com.example.demo", "3")))
	require.Equal(t, 413, status, out)
	require.Contains(t, out["error"], "2 of 2")
	require.Equal(t, stored, w.objects())
	require.Equal(t, 2, w.count(`select count(*) from builds`))

	w.exec(`update builds set deleted_at = now() where id = (select min(id) from builds)`)
	w.exec(`insert into organization_quotas select organization_id, 'stored_bytes', 100 from builds limit 1`)
	status, out = w.post("/api/upload/", nil, file("file", "a.ipa", ipa("com.example.demo", "3")), w.key())
	require.Equal(t, 413, status, out)
	require.Contains(t, out["message"], "quota stored_bytes is used up")
	status, out = w.post("/upload/dsym/", nil, file("dsym", "Demo.dSYM.zip", dSYM()), w.key())
	require.Equal(t, 413, status, out)
	w.exec(`update organization_quotas set bound = 0`)
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "3")))
}

func (w *world) exec(query string) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query)
	require.NoError(w.t, err)
}
