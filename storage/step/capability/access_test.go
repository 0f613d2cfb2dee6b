package capability_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// What nobody may read stands in settings as a variable alone.
func TestAccess(t *testing.T) {
	t.Parallel()
	for password, wrong := range map[string]bool{"{{password}}": false, "{{org:password}}": false, "{{a}}{{b}}": false, "{{ a }}": false,
		"": true, "s3cret": true, "x{{password}}": true, "{{password}}x": true, "{{a}} {{b}}": true, "{{A}}": true,
		strings.Repeat("{{a}}", 300): true} {
		for path, s := range map[string]capability.RunSettings{
			"basicAuth.password": {Access: capability.Access{BasicAuth: &capability.BasicAuth{User: "ann", Password: password}}},
			"clientCertificate.key": {Access: capability.Access{ClientCertificate: &capability.ClientCertificate{Certificate: "x",
				Key: password}}},
		} {
			err := capability.CheckSettings(&s)
			if !wrong {
				require.NoError(t, err, password)
				continue
			}
			var invalid *step.InvalidError
			require.ErrorAs(t, err, &invalid, password)
			require.Equal(t, path, invalid.Path)
			require.NotContains(t, err.Error(), "s3cret")
		}
	}
	for path, access := range map[string]capability.Access{
		"basicAuth.user":                {BasicAuth: &capability.BasicAuth{Password: "{{a}}"}},
		"clientCertificate.certificate": {ClientCertificate: &capability.ClientCertificate{Key: "{{a}}"}},
	} {
		var invalid *step.InvalidError
		require.ErrorAs(t, capability.CheckSettings(&capability.RunSettings{Access: access}), &invalid)
		require.Equal(t, path, invalid.Path)
	}
	require.Equal(t, []string{"ann", "{{p}}", "c", "{{k}}"}, capability.Access{BasicAuth: &capability.BasicAuth{User: "ann",
		Password: "{{p}}"},
		ClientCertificate: &capability.ClientCertificate{Certificate: "c", Key: "{{k}}"}}.Texts())
}
