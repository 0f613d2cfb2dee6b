package main

import (
	"testing"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// parseSettings reads a command line the way run does.
func parseSettings(t *testing.T, args ...string) (*setting.Settings, error) {
	t.Helper()
	var c cli
	parser, err := kong.New(&c, kong.Name("slipway"), kong.Resolvers(setting.VariableFiles{}))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	return &c.Settings, err
}

func TestCheckVariables(t *testing.T) {
	t.Parallel()
	var c cli
	parser, err := kong.New(&c, kong.Name("slipway"))
	require.NoError(t, err)
	for _, v := range []struct {
		variable string
		known    bool
	}{
		{"SLIPWAY_DATABASE_URL=x", true}, {"SLIPWAY_DATABASE_URL_FILE=x", true}, {"SLIPWAY_DATA_DIR=x", true},
		{"SLIPWAY_METRICS_PUBLIC=true", true}, {"SLIPWAY_TEST_ANYTHING=1", true}, {"PATH=/bin", true},
		{"XSLIPWAY_=1", true}, {"", true},
		// Links of Kubernetes to Services called slipway and slipway-api.
		{"SLIPWAY_SERVICE_HOST=10.0.0.1", true}, {"SLIPWAY_SERVICE_PORT=80", true}, {"SLIPWAY_SERVICE_PORT_HTTP=80", true},
		{"SLIPWAY_PORT=tcp://10.0.0.1:80", true}, {"SLIPWAY_PORT_80_TCP=x", true}, {"SLIPWAY_PORT_80_TCP_ADDR=x", true},
		{"SLIPWAY_API_SERVICE_HOST=x", true}, {"SLIPWAY_API_SERVICE_PORT_HTTP=x", true}, {"SLIPWAY_API_PORT_80_TCP_PROTO=x", true},
		{"SLIPWAY_SERVICE_HOSTS=x", false}, {"SLIPWAY_SERVICE=x", false}, {"SLIPWAY_PORTS=x", false}, {"SLIPWAY_REPORT=x", false},
		{"SLIPWAY_TRANSPORT_80=x", false}, {"SLIPWAY_HOST=x", false},
		{"SLIPWAY_DATABSE_URL=x", false}, {"SLIPWAY_REGION_FILE=x", false}, {"SLIPWAY_=", false}, {"SLIPWAY_LISTEN2=", false},
	} {
		err := setting.CheckVariables(parser.Model, []string{v.variable})
		if v.known {
			require.NoError(t, err, v.variable)
			continue
		}
		require.Error(t, err, v.variable)
		require.NotContains(t, err.Error(), "=", "the value may be a secret")
		require.Contains(t, err.Error(), "(slipway COMMAND --help lists the settings that it reads)", "no command reads all")
	}
}
