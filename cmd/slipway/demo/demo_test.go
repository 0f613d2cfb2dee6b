package demo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/inspect"
	"github.com/slipway-qa/slipway/storage/artifact/signature"
)

// Each package is one that inspection reads without a warning, and whose signature holds.
func TestPackages(t *testing.T) {
	t.Parallel()
	key, err := newSigningKey()
	require.NoError(t, err)
	for _, r := range releases {
		raw, err := buildAPK(appOf(r, 1), key)
		require.NoError(t, err)
		in := artifact.Input{Reader: bytes.NewReader(raw), Size: int64(len(raw)), Name: "app.apk"}
		p, err := inspect.New().Package(t.Context(), in, "", false)
		require.NoError(t, err)
		require.Empty(t, p.Warnings)
		require.Equal(t, artifact.APK, p.Kind)
		require.Equal(t, []string{r.pkg, r.version, "24", "36"}, []string{p.PackageName, p.Version, p.MinOSVersion, p.TargetOS})
		require.NotEmpty(t, p.Icon)
		require.Contains(t, p.Permissions, "android.permission.INTERNET")
		require.NotEqual(t, p.PackageName, p.Name, "the label is read from the resources")
		a, err := archive.Open(in.Reader, in.Size)
		require.NoError(t, err)
		v, err := signature.Verify(t.Context(), bytes.NewReader(raw), in.Size, a, signature.Requirements{MinSDK: 24, TargetSDK: 36})
		require.NoError(t, err)
		require.Nil(t, v.Failure)
		require.Equal(t, []string{"v2"}, v.Schemes)

		raw[len(raw)/3] ^= 1
		a, err = archive.Open(bytes.NewReader(raw), in.Size)
		require.NoError(t, err)
		v, err = signature.Verify(t.Context(), bytes.NewReader(raw), in.Size, a, signature.Requirements{MinSDK: 24, TargetSDK: 36})
		require.NoError(t, err)
		require.NotNil(t, v.Failure, "the signature covers the content")
	}
}

// The positions of stacks are those of functions of the script.
func TestSourceMap(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "A", 1: "C", -1: "D", 15: "e", 16: "gB", -17: "jB", 511: "+f"} {
		require.Equal(t, want, quantity(n), n)
	}
	raw, err := sourceMap()
	require.NoError(t, err)
	var m struct {
		Mappings string
		Sources  []string
	}
	require.NoError(t, json.Unmarshal(raw, &m))
	require.Len(t, m.Sources, 2)
	require.Len(t, strings.Split(m.Mappings, ","), 6)
	for _, name := range []string{"t", "u", "v"} {
		require.Equal(t, "function "+name+"(e){", script[scriptColumn(name)-1-len("function t(e){"):scriptColumn(name)-1])
	}
	require.Len(t, imageID("2.0.1"), 33)
	require.NotEqual(t, imageID("2.0.1"), imageID("2.1.0"))
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := Access{Server: "http://127.0.0.1:8080", APIKey: "k", User: "u", AccessKey: "a"}
	require.NoError(t, Config{Access: good}.Validate())
	for name, change := range map[string]func(*Config){
		"a path":    func(c *Config) { c.Access.Server = "/tmp" },
		"a file":    func(c *Config) { c.Access.Server = "file:///tmp" },
		"no key":    func(c *Config) { c.Access.APIKey = "" },
		"no user":   func(c *Config) { c.Access.User = "" },
		"too often": func(c *Config) { c.Runs = maxRuns + 1 },
		"below":     func(c *Config) { c.Runs = -1 },
	} {
		c := Config{Access: good}
		change(&c)
		require.Error(t, c.Validate(), name)
	}
	for server, want := range map[string]bool{"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true,
		"https://qa.example.com": false, "http://10.0.0.1": false} {
		require.Equal(t, want, onThisMachine(server), server)
	}
}
