package capability_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
)

func capabilities(t testing.TB, text string) capability.Capabilities {
	t.Helper()
	var c capability.Capabilities
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return c
}

func TestLayer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ under, over, want string }{
		{`null`, `null`, `{}`},
		{`{"browserName":"chrome"}`, `null`, `{"browserName":"chrome"}`},
		{`{"browserName":"chrome","a:b":1}`, `{"browserName":"firefox"}`, `{"browserName":"firefox","a:b":1}`},
		{`{"v:options":{"a":1,"c":{"d":1,"e":2}}}`, `{"v:options":{"b":2,"c":{"d":3}}}`, `{"v:options":{"a":1,"b":2,"c":{"d":3,"e":2}}}`},
		{`{"goog:chromeOptions":{"args":["a","b"]}}`, `{"goog:chromeOptions":{"args":["c"]}}`, `{"goog:chromeOptions":{"args":["c"]}}`},
		{`{"proxy":{"proxyType":"manual","httpProxy":"a:1"}}`, `{"proxy":{"proxyType":"direct"}}`, `{"proxy":{"proxyType":"direct"}}`},
		{`{"v:options":{"a":1}}`, `{"v:options":"x"}`, `{"v:options":"x"}`},
		{`{"v:options":"x"}`, `{"v:options":{"a":1}}`, `{"v:options":{"a":1}}`},
	} {
		under, over := capabilities(t, c.under), capabilities(t, c.over)
		got := capability.Merge(under, over)
		require.Equal(t, capabilities(t, c.want), got, c)
		require.Equal(t, capabilities(t, c.under), under, c)
		require.Equal(t, capabilities(t, c.over), over, c)
	}
	under := capabilities(t, `{"v:options":{"a":[{"b":1}]}}`)
	got := capability.Merge(under, nil)
	got["v:options"].(map[string]any)["a"].([]any)[0].(map[string]any)["b"] = 2
	require.Equal(t, capabilities(t, `{"v:options":{"a":[{"b":1}]}}`), under, "nothing is shared")
}

func TestEffective(t *testing.T) {
	t.Parallel()
	primary := &capability.Target{Capabilities: capabilities(t,
		`{"browserName":"chrome","goog:chromeOptions":{"args":["a"]},"slipway:options":{"name":"own"}}`)}
	for _, c := range []struct{ target, want string }{
		{`{"browserName":"firefox"}`, `{"browserName":"firefox","slipway:options":{"name":"case","build":"b1","tunnelName":"t"}}`},
		{`{"appium:app":"storage:1"}`, `{"appium:app":"storage:1","slipway:options":{"name":"case","build":"b1","tunnelName":"t"}}`},
		{`{"x:options":{"app":"storage:1"}}`,
			`{"x:options":{"app":"storage:1"},"slipway:options":{"name":"case","build":"b1","tunnelName":"t"}}`},
		{`{"browserVersion":"120","slipway:options":{"build":"mine"}}`,
			`{"browserName":"chrome","browserVersion":"120","goog:chromeOptions":{"args":["a"]},"slipway:options":{"name":"own","build":"mine",` +
				`"tunnelName":"t"}}`},
	} {
		target := capability.Target{Capabilities: capabilities(t, c.target)}
		got := capability.Effective(primary, target, "slipway", "case", "b1", "t")
		require.Equal(t, capabilities(t, c.want), got, c.target)
		require.Equal(t, capabilities(t, c.target), target.Capabilities, "unchanged")
	}
	require.Equal(t, capabilities(t, `{"browserName":"chrome"}`),
		capability.Effective(nil, capability.Target{Capabilities: capabilities(t, `{"browserName":"chrome"}`)}, "slipway", "", "", ""),
		"nothing to put")
	require.Equal(t, "own", primary.Capabilities["slipway:options"].(map[string]any)["name"])
	require.Len(t, primary.Capabilities["slipway:options"], 1, "unchanged")
}

func TestApp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"appium:app":"a","x:options":{"app":"b"}}`: "a", `{"x:options":{"app":"b"}}`: "b", `{"appium:options":{"appium:app":"c"}}`: "c",
		`{"appium:app":7,"b:options":{"app":"2"},"a:options":{"app":"1"}}`: "1", `{"app:x":{"app":"b"}}`: "", `{"x:options":"b"}`: "", `null`: "",
	} {
		require.Equal(t, want, capability.App(capabilities(t, text)), text)
	}
}

func TestAppReference(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]struct {
		id   int64
		name string
		ok   bool
	}{
		"storage:123": {123, "", true}, "storage:filename=a b.apk": {0, "a b.apk", true},
		"storage:0": {}, "storage:-1": {}, "storage:+1": {}, "storage:": {}, "storage:filename=": {}, "storage:filename=a\n": {},
		"storage:99999999999999999999": {}, "storage:3f333df6-0000-4000-8000-000000000000": {}, "https://example.com/a.apk": {},
		"": {}, "Storage:1": {},
	} {
		id, name, ok := capability.AppReference(app)
		require.Equal(t, want.ok, ok, app)
		require.Equal(t, want.id, id, app)
		require.Equal(t, want.name, name, app)
	}
}

func TestSharedTunnel(t *testing.T) {
	t.Parallel()
	named := func(name any) capability.Target {
		return capability.Target{Capabilities: capability.Capabilities{"slipway:options": map[string]any{"tunnelName": name}}}
	}
	plain := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	for i, tc := range []struct {
		targets []capability.Target
		name    string
		at      int
		ok      bool
	}{
		{nil, "", 0, true},
		{[]capability.Target{plain, named(""), named(7)}, "", 0, true},
		{[]capability.Target{plain, named("a"), plain, named("a")}, "a", 1, true},
		{[]capability.Target{named("a"), plain, named("b")}, "a", 2, false},
	} {
		name, at, ok := capability.SharedTunnel(tc.targets, "slipway")
		require.Equal(t, tc.name, name, i)
		require.Equal(t, tc.at, at, i)
		require.Equal(t, tc.ok, ok, i)
	}
	require.Empty(t, capability.Tunnel(named("a").Capabilities, "other"))
	require.Equal(t, "capabilities.slipway:options.tunnelName", capability.TunnelPath("slipway"))
	before := named("a").Capabilities
	require.Equal(t, capability.Capabilities{"slipway:options": map[string]any{}}, capability.WithoutTunnel(before, "slipway"))
	require.Equal(t, "a", capability.Tunnel(before, "slipway"), "the argument is not changed")
	require.Equal(t, plain.Capabilities, capability.WithoutTunnel(plain.Capabilities, "slipway"))
}

func TestInstallBuild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of       capability.Capabilities
		platform string
		app      string
	}{
		"a phone":              {capability.Capabilities{"platformName": "android"}, "Android", "storage:7"},
		"by Appium's options":  {capability.Capabilities{"appium:automationName": "UiAutomator2"}, "Android", "storage:7"},
		"an app by its name":   {capability.Capabilities{"platformName": "iOS", "appium:bundleId": "com.example"}, "iOS", "storage:7"},
		"platform not known":   {capability.Capabilities{"platformName": "iOS"}, "", "storage:7"},
		"another platform":     {capability.Capabilities{"platformName": "iOS"}, "Android", ""},
		"a browser":            {capability.Capabilities{"browserName": "chrome"}, "Android", ""},
		"a browser on a phone": {capability.Capabilities{"browserName": "chrome", "platformName": "Android"}, "Android", ""},
		"a desktop":            {capability.Capabilities{"platformName": "windows"}, "Windows", ""},
		"an app of its own": {capability.Capabilities{"platformName": "Android", "appium:app": "https://a.example.com/x.apk"},
			"Android", "https://a.example.com/x.apk"},
		"an app in options": {capability.Capabilities{"platformName": "Android", "appium:options": map[string]any{"app": "storage:3"}},
			"Android", "storage:3"},
	} {
		targets := []capability.Target{{Capabilities: c.of, IsRDC: true}}
		before := len(c.of)
		capability.InstallBuild(targets, c.platform, 7)
		require.Equal(t, c.app, capability.App(targets[0].Capabilities), name)
		require.True(t, targets[0].IsRDC)
		require.Len(t, c.of, before, "the capabilities that were given stay as they are")
	}
}
