package install_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// TestSharedBuilds has builds of which each is shared on its own.
func TestSharedBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	ann := w.member("ann@example.com", account.Tester)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		g, err := testergroup.Create(ctx, tx, account.CLI(), w.org, "QA", false)
		if err != nil {
			return err
		}
		return testergroup.AddUser(ctx, tx, account.CLI(), w.org, g.ID, ann)
	})
	upload := func(version string, groups ...string) *distribution.Build {
		return w.upload(func(u *distribution.Upload) {
			closed(u)
			u.Package.Version, u.BuildGroups = version, grant.Groups{Given: groups != nil, Names: groups}
		}).Build
	}
	first, hidden, second, last := upload("2.0.1", "QA"), upload("2.0.2"), upload("2.0.3", "QA"), upload("2.0.4")
	cookie := w.signIn("/install/harbour-notes", "ann@example.com")
	page := func(cookie *http.Cookie) (int, string) {
		rec := w.do(request{path: "/install/harbour-notes", agent: onPhone, cookie: cookie})
		return rec.Code, rec.Body.String()
	}
	link := func(b *distribution.Build) string { return `href="/install/` + b.Token + `"` }

	status, body := page(cookie)
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, "Version 2.0.3")
	require.Contains(t, body, second.Token+"/download")
	require.Contains(t, body, link(first))
	require.NotContains(t, body, link(second), "is shown above")
	for _, b := range []*distribution.Build{hidden, last} {
		require.NotContains(t, body, b.Token)
		require.Equal(t, http.StatusForbidden, w.do(request{path: "/install/" + b.Token, cookie: cookie}).Code)
	}
	rec := w.do(request{path: "/install/harbour-notes/download", cookie: cookie})
	require.Equal(t, http.StatusFound, rec.Code)
	require.Equal(t, 1, w.downloads(second.ID))

	_, body = page(w.signIn("/install/harbour-notes", "owner@example.com"))
	require.Contains(t, body, "Version 2.0.4")
	for _, b := range []*distribution.Build{first, hidden, second} {
		require.Contains(t, body, link(b))
	}

	// A block, and grants that are gone.
	w.block(ann, true)
	status, body = page(cookie)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "is blocked")
	w.block(ann, false)
	w.exec(`update builds set state = 'disabled', state_reason = 'crashes at the start' where id = any(array[$1, $2]::bigint[])`,
		first.ID, second.ID)
	status, body = page(cookie)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Version 2.0.3")
	require.Contains(t, body, "Crashes at the start.")
	require.NotContains(t, body, "Other builds")
	require.Equal(t, http.StatusConflict, w.do(request{path: "/install/harbour-notes/download", cookie: cookie}).Code)
	w.exec(`delete from build_groups`)
	status, body = page(cookie)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "This app was not shared with")
	require.NotContains(t, body, "2.0.")
}

// TestNewestDisabled has an open app whose latest build was taken back.
func TestNewestDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	first, second, last := w.upload(nil).Build, w.upload(nil).Build, w.upload(nil).Build
	w.exec(`update builds set state = 'disabled' where id = $1`, last.ID)
	body := w.get("/install/harbour-notes", onPhone).Body.String()
	require.Contains(t, body, second.Token+"/download")
	require.Contains(t, body, `href="/install/`+first.Token+`"`)
	require.NotContains(t, body, last.Token)
	require.NotContains(t, body, "not available")
	require.Equal(t, http.StatusFound, w.get("/install/harbour-notes/download", onPhone).Code)
	require.Equal(t, 1, w.downloads(second.ID))
	require.Contains(t, w.get("/install/"+last.Token, onPhone).Body.String(), "This build is not available")
}
