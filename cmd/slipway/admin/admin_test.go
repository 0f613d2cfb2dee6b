package admin

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// What an operator reads of a failure is a sentence, not the words of the driver.
func TestAdminSaysPlainlyWhatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	here := servicetest.DatabaseURL(t)
	gone, other, wrong := changedURL(t, here), changedURL(t, here), changedURL(t, here)
	gone.Host = "127.0.0.1:1"
	other.Path = "/postgres" // has no schema
	wrong.User = url.UserPassword(wrong.User.Username(), "wrong")
	org := &orgCreate{Slug: "acme", Team: "Default"}
	require.NoError(t, org.Run(t.Context(), databaseSettings(here)))
	for name, c := range map[string]struct {
		run  func(*setting.Settings) error
		at   string
		want string
	}{
		"unique violation": {func(s *setting.Settings) error { return org.Run(t.Context(), s) }, here,
			"create organization acme: this exists already"},
		"no such row": {func(s *setting.Settings) error {
			return (&teamCreate{Org: "nobody", Name: "x"}).Run(t.Context(), s)
		}, here, "not found"},
		"refused": {func(s *setting.Settings) error { return org.Run(t.Context(), s) }, gone.String(),
			"the database cannot be reached at " + gone.Host + " (connection refused): see SLIPWAY_DATABASE_URL"},
		"missing schema": {func(s *setting.Settings) error { return org.Run(t.Context(), s) }, other.String(),
			"the database has no schema of this version: run slipway migrate"},
		"wrong password": {func(s *setting.Settings) error { return org.Run(t.Context(), s) }, wrong.String(),
			"the database refuses the user or the password of SLIPWAY_DATABASE_URL"},
		"invalid": {func(s *setting.Settings) error {
			return (&orgCreate{Slug: "A B", Team: "Default"}).Run(t.Context(), s)
		}, here, "slug"},
	} {
		err := c.run(databaseSettings(c.at))
		require.ErrorContains(t, err, c.want, name)
		for _, raw := range []string{"pq:", "sql:", "duplicate key", "relation", "dial tcp", "wrong"} {
			require.NotContains(t, err.Error(), raw, name)
		}
	}
}

func changedURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

func databaseSettings(address string) *setting.Settings {
	return &setting.Settings{DatabaseURL: setting.Secret(address), Region: "local"}
}
