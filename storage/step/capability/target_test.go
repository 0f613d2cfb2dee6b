package capability_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

func deep(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }

func TestCheckTarget(t *testing.T) {
	t.Parallel()
	require.NoError(t, capability.CheckTarget(nil))
	require.NoError(t, capability.CheckTarget(&capability.Target{}))
	for _, text := range []string{
		`{}`, `{"browserName":"chrome","browserVersion":"120","platformName":"Windows 11","acceptInsecureCerts":true,"pageLoadStrategy":"eager",
		"proxy":{"proxyType":"direct"},"setWindowRect":true,"timeouts":{"script":null,"implicit":0},"strictFileInteractability":false,
		"unhandledPromptBehavior":{"alert":"accept"},"webSocketUrl":true}`,
		`{"unhandledPromptBehavior":"ignore","browserVersion":null}`,
		`{"goog:chromeOptions":{"args":["--headless"]},"appium:app":"storage:1","appium:newCommandTimeout":90}`,
		`{"x:a":` + deep(9) + `}`,
	} {
		require.NoError(t, capability.CheckTarget(&capability.Target{Capabilities: capabilities(t, text)}), text)
	}
	for text, path := range map[string]string{
		`{"browserName":1}`: ".browserName", `{"browserVersion":1}`: ".browserVersion", `{"platformName":{}}`: ".platformName",
		`{"acceptInsecureCerts":"yes"}`: ".acceptInsecureCerts", `{"pageLoadStrategy":"slow"}`: ".pageLoadStrategy", `{"proxy":"a:1"}`: ".proxy",
		`{"setWindowRect":1}`: ".setWindowRect", `{"timeouts":{"implicit":"1"}}`: ".timeouts", `{"timeouts":7}`: ".timeouts",
		`{"strictFileInteractability":1}`:  ".strictFileInteractability",
		`{"unhandledPromptBehavior":true}`: ".unhandledPromptBehavior", `{"webSocketUrl":"ws:"}`: ".webSocketUrl",
		`{"app":"storage:1"}`: ".app", `{"name":"x"}`: ".name", `{"":"x"}`: "", `{"x:` + strings.Repeat("a", 127) + `":1}`: "",
		`{"x:a":` + deep(10) + `}`: "", `{"x:a":["` + strings.Repeat("a", 64<<10) + `"]}`: "", `{"x:a":["\u0000"]}`: ".x:a[0]",
		`{"x:a":{"\u0000":1}}`: ".x:a",
		`{"x:a":"` + strings.Repeat("a", 40<<10) + `","x:b":"` + strings.Repeat("a", 40<<10) + `"}`: "",
	} {
		var wrong *step.InvalidError
		require.ErrorAs(t, capability.CheckTarget(&capability.Target{Capabilities: capabilities(t, text)}), &wrong, "%.80s", text)
		if path == "" && wrong.Path == "capabilities.x:a[0]" {
			path = ".x:a[0]" // too long by itself
		}
		require.Equal(t, "capabilities"+path, wrong.Path, "%.80s", text)
		require.NotEmpty(t, wrong.Msg)
	}
	for _, value := range []any{math.NaN(), make(chan int), []string{"a"}} {
		require.Error(t, capability.CheckTarget(&capability.Target{Capabilities: capability.Capabilities{"x:a": value}}), "%v", value)
	}
}

func TestCheckSettings(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	chrome := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	wrong := capability.Target{Capabilities: capability.Capabilities{"browserName": 7}}
	for _, s := range []capability.RunSettings{
		{}, {TestURL: "https://example.com/a?b", SCTunnelName: text("office"), PrimaryTarget: &chrome,
			RunTargets: []capability.Target{chrome}, LastBuildName: "b"},
		{Strict: new(bool), Healing: capability.HealSuggest}, {Healing: capability.HealOff}, {Healing: capability.HealApply},
		{TestURL: "{{base}}/a"}, {TestURL: "http://{{host}}/"},
	} {
		require.NoError(t, capability.CheckSettings(&s), "%+v", s)
	}
	for i, c := range []struct {
		s    capability.RunSettings
		path string
	}{
		{capability.RunSettings{TestURL: "/login"}, "testUrl"},
		{capability.RunSettings{TestURL: "file:///etc/passwd"}, "testUrl"},
		{capability.RunSettings{TestURL: "http:///x"}, "testUrl"},
		{capability.RunSettings{TestURL: "https://example.com/\n"}, "testUrl"},
		{capability.RunSettings{TestURL: "https://example.com/" + strings.Repeat("a", 2048)}, "testUrl"},
		{capability.RunSettings{SCTunnelName: text("")}, "scTunnelName"},
		{capability.RunSettings{SCTunnelName: text(strings.Repeat("é", 101))}, "scTunnelName"},
		{capability.RunSettings{LastBuildName: strings.Repeat("é", 256)}, "lastBuildName"},
		{capability.RunSettings{Healing: "always"}, "healing"},
		{capability.RunSettings{LastBuildName: "\x00"}, "lastBuildName"},
		{capability.RunSettings{PrimaryTarget: &wrong}, "primaryTarget.capabilities.browserName"},
		{capability.RunSettings{RunTargets: []capability.Target{chrome, wrong}}, "runTargets[1].capabilities.browserName"},
		{capability.RunSettings{RunTargets: make([]capability.Target, 21)}, "runTargets"},
	} {
		var invalid *step.InvalidError
		require.ErrorAs(t, capability.CheckSettings(&c.s), &invalid, fmt.Sprint(i))
		require.Equal(t, c.path, invalid.Path, "%d", i)
	}
}
