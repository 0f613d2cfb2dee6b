package browser

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestPlatformsOfThisSystem(t *testing.T) {
	t.Parallel()
	for system, names := range map[string]map[string]bool{
		"linux":   {"linux": true, "mac": false, "windows": false, "linux mint": false},
		"darwin":  {"mac": true, "macos": true, "macos 15": true, "os x 10.11": true, "linux": false, "windows 11": false},
		"windows": {"windows": true, "windows 11": true, "windowsphone": false, "mac": false, "linux": false},
	} {
		for name, want := range names {
			require.Equal(t, want, isPlatform(system, name), "%s on %s", name, system)
		}
	}
	require.NoError(t, checkServedHere(capability.Target{Capabilities: capability.Capabilities{"platformName": "ANY"}}))
	here := map[string]string{"linux": "Linux", "darwin": "macOS 15", "windows": "Windows 11"}[runtime.GOOS]
	require.NoError(t, checkServedHere(capability.Target{Capabilities: capability.Capabilities{"platformName": here}}))
	require.Error(t, checkServedHere(capability.Target{Capabilities: capability.Capabilities{"platformName": "solaris"}}))
}

func TestHostileCapabilitiesAreRefused(t *testing.T) {
	t.Parallel()
	options := func(name string, value any) capability.Capabilities {
		return capability.Capabilities{"goog:chromeOptions": map[string]any{name: value}}
	}
	argument := func(arg string) capability.Capabilities { return options("args", []any{arg}) }
	for _, test := range []struct {
		caps capability.Capabilities
		text string
	}{
		{options("binary", "/bin/sh"), "binary"},
		{options("debuggerAddress", "127.0.0.1:1"), "debuggerAddress"},
		{options("extensions", []any{"x"}), "extensions"},
		{options("localState", map[string]any{}), "localState"},
		{options("detach", true), "detach"},
		{options("minidumpPath", "/x"), "minidumpPath"},
		{options("perfLoggingPrefs", map[string]any{}), "perfLoggingPrefs"},
		{options("androidPackage", "x"), "androidPackage"},
		{options("args", "--lang=de"), "args"},
		{options("args", []any{7}), "must be a text"},
		{options("prefs", map[string]any{"download.default_directory": "/etc"}), "download.default_directory"},
		{options("prefs", map[string]any{"profile": map[string]any{}}), "profile"},
		{options("prefs", map[string]any{"profile.default_content_setting_values.cookies": "x"}), "number"},
		{options("prefs", map[string]any{"intl.accept_languages": "de\n"}), "languages"},
		{options("mobileEmulation", map[string]any{"x": 1}), "mobileEmulation.x"},
		{options("mobileEmulation", map[string]any{"userAgent": strings.Repeat("x", 10000)}), "mobileEmulation"},
		{argument("--renderer-cmd-prefix=sh"), "--renderer-cmd-prefix"},
		{argument("utility-cmd-prefix=sh"), "--utility-cmd-prefix"},
		{argument("--gpu-launcher=sh"), "--gpu-launcher"},
		{argument("--user-data-dir=/home"), "--user-data-dir"},
		{argument("--load-extension=/x"), "--load-extension"},
		{argument("--remote-debugging-port=1"), "--remote-debugging-port"},
		{argument("--remote-allow-origins=*"), "--remote-allow-origins"},
		{argument("--proxy-server=direct://"), "--proxy-server"},
		{argument("--no-proxy-server"), "--no-proxy-server"},
		{argument("--host-resolver-rules=MAP * 1.2.3.4"), "--host-resolver-rules"},
		{argument("--disable-web-security"), "--disable-web-security"},
		{argument("--allow-file-access-from-files"), "--allow-file"},
		{argument("--use-file-for-fake-video-capture=/etc/passwd"), "--use-file"},
		{argument("/etc/passwd"), "/etc/passwd"},
		{argument("--LANG=de"), "--LANG"},
		{argument("--window-size=1"), "--window-size with a value"},
		{argument("--window-size"), "--window-size with a value"},
		{argument("--user-agent=a\nb"), "--user-agent"},
		{argument("--force-dark-mode=x"), "--force-dark-mode"},
		{argument(""), "argument"},
		{capability.Capabilities{"proxy": map[string]any{"proxyType": "direct"}}, "capability proxy"},
		{capability.Capabilities{"goog:chromeOptions": 7}, "must be an object"},
		{capability.Capabilities{"moz:firefoxOptions": map[string]any{}}, "moz:firefoxOptions"},
		{capability.Capabilities{"chromeOptions": map[string]any{}}, "chromeOptions"},
		{capability.Capabilities{"pageLoadStrategy": "never"}, "pageLoadStrategy"},
		{capability.Capabilities{"acceptInsecureCerts": "yes"}, "acceptInsecureCerts"},
		{capability.Capabilities{"timeouts": map[string]any{"script": 1e9}}, "timeouts"},
		{capability.Capabilities{strings.Repeat("x", 10000): 1}, "capability xxx"},
	} {
		_, _, err := readKind(Request{Target: capability.Target{Capabilities: test.caps}})
		var refused *SessionError
		require.ErrorAs(t, err, &refused, "%v", test.caps)
		require.Contains(t, refused.Text, test.text)
		require.LessOrEqual(t, len(refused.Text), maxMessage)
		require.False(t, refused.Retry)
	}
}

func TestHarmlessCapabilitiesPass(t *testing.T) {
	t.Parallel()
	caps := capability.Capabilities{
		"browserName": "chrome", "acceptInsecureCerts": true, "pageLoadStrategy": "normal",
		"unhandledPromptBehavior": "accept", "webSocketUrl": false, "acme:options": map[string]any{"name": "x"},
		"se:recordVideo": true, "timeouts": map[string]any{"script": 1000.0, "implicit": 5000.0},
		"goog:chromeOptions": map[string]any{
			"args": []any{"--no-sandbox", "headless", "--headless=old", "--window-size=800x600", "user-agent=X (Y)",
				"--user-agent=X (Y)"},
			"prefs":           map[string]any{"profile.default_content_setting_values.notifications": 2.0},
			"excludeSwitches": []any{"enable-automation"},
		},
	}
	k, timeouts, err := readKind(Request{Target: capability.Target{Capabilities: caps}, Proxy: "http://u:secret@t"})
	require.NoError(t, err)
	require.Equal(t, webdriver.Timeouts{Script: time.Second}, timeouts, "implicit is left out")
	require.Equal(t, []string{"--user-agent=X (Y)", "--window-size=800,600"}, k.args)
	width, height := k.size()
	require.Equal(t, []int{800, 600}, []int{width, height})

	c := k.capabilities(Config{Arguments: []string{"--no-sandbox"}, Binary: "/usr/bin/browser"}, "127.0.0.1:9")
	require.Equal(t, map[string]any{"default": "ignore", "beforeUnload": "ignore"}, c["unhandledPromptBehavior"])
	require.Equal(t, "normal", c["pageLoadStrategy"])
	require.Equal(t, true, c["webSocketUrl"])
	require.NotContains(t, c, "acme:options")
	options := c["goog:chromeOptions"].(map[string]any)
	require.Equal(t, "/usr/bin/browser", options["binary"])
	require.Subset(t, options["args"], []string{"--no-sandbox", "--headless=new", "--remote-debugging-pipe",
		"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--window-size=800,600"})
	require.NotContains(t, options["args"], windowSize)
	doc, err := json.Marshal(c)
	require.NoError(t, err)
	require.NotContains(t, string(doc), "secret")

	// The same options have the same key, others another.
	same, _, err := readKind(Request{Target: capability.Target{Capabilities: caps}, Proxy: "http://u:secret@t"})
	require.NoError(t, err)
	require.Equal(t, k.key(), same.key())
	other, _, err := readKind(Request{Target: capability.Target{Capabilities: caps}})
	require.NoError(t, err)
	require.NotEqual(t, k.key(), other.key())
	none, _, err := readKind(Request{})
	require.NoError(t, err)
	require.Equal(t, plainKind().key(), none.key())
}

func TestVersionFits(t *testing.T) {
	t.Parallel()
	for wanted, fits := range map[string]bool{"": true, "latest": true, "stable": true, "156": true, "156.0": true,
		"156.0.8078.79": true, "15": false, "155": false, "latest-1": false, "156.": false} {
		require.Equal(t, fits, versionFits(wanted, "156.0.8078.79"), wanted)
	}
}

// What is accepted has no argument beyond the list.
func FuzzReadKind(f *testing.F) {
	f.Add(`{"goog:chromeOptions":{"args":["--lang=de","--user-data-dir=/x"],"prefs":{"intl.accept_languages":"de"}}}`)
	f.Add(`{"acceptInsecureCerts":true,"timeouts":{"script":1},"proxy":{}}`)
	f.Fuzz(func(t *testing.T, doc string) {
		var caps capability.Capabilities
		if json.Unmarshal([]byte(doc), &caps) != nil {
			return
		}
		k, _, err := readKind(Request{Target: capability.Target{Capabilities: caps}})
		if err != nil {
			return
		}
		k.key()
		for _, arg := range k.args {
			if _, _, common, err := capability.ChromiumArgument("", arg); common || err != nil {
				t.Fatalf("%q passed", arg)
			}
		}
	})
}
