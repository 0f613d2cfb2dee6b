package upload

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact/artifacttest"
)

// otherOrganization creates an organization with a key for uploads.
func (w *world) otherOrganization() (key string) {
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "other"})
		if err != nil {
			return err
		}
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: o.ID, Name: "Other"})
		if err != nil {
			return err
		}
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: "other@example.com",
			Role: account.Member, TeamID: team.ID})
		if err != nil {
			return err
		}
		_, s, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{OrganizationID: o.ID, UserID: u.ID, Kind: account.KindAPI})
		key = s.Text
		return err
	})
	return key
}

// Packages that are meant to hurt their reader are builds without what could not be read,
// and the uploads of another organization go on beside them.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	other := w.otherOrganization()
	want := map[string]string{"signers.apk": "The signature cannot be read", "vector.apk": "The icon cannot be read", "manifest.apk": ""}
	var sending sync.WaitGroup
	for _, h := range artifacttest.Corpus() {
		warning, ok := want[h.File]
		if !ok {
			continue
		}
		sending.Go(func() {
			status, got := w.post("/upload/", nil, file("file", h.File, h.Data()), w.key())
			if !h.Accepted {
				require.Equal(t, 400, status, got)
				require.EqualValues(t, codeInvalidFile, got["code"])
				return
			}
			require.Equal(t, 200, status, got)
			require.Equal(t, artifacttest.PackageName, got["package_name"])
			require.Len(t, notes(got), 1)
			require.Contains(t, got["warnings"].([]any)[0], warning)
		})
	}
	status, got := w.post("/upload/", nil, file("file", "a.ipa", ipa("com.example.demo", "1")), textField("api_key", other))
	require.Equal(t, 200, status, got)
	sending.Wait()
}
