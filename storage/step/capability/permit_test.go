package capability

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// Capabilities that run programs, read files or reach networks on the machine of a hub,
// with the member that the refusal names.
func TestHostileCapabilitiesAreNotPermitted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ capabilities, path string }{
		{`{"goog:chromeOptions":{"binary":"/bin/sh"}}`, "goog:chromeOptions.binary"},
		{`{"goog:chromeOptions":{"args":["--lang=de","--renderer-cmd-prefix=touch /tmp/x"]}}`, "goog:chromeOptions.args[1]"},
		{`{"goog:chromeOptions":{"args":["utility-cmd-prefix=sh"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--gpu-launcher=sh"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--ppapi-plugin-launcher=sh"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--remote-debugging-port=9222"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--remote-debugging-address=0.0.0.0"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--load-extension=/x"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--user-data-dir=/home/seluser"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--disable-web-security"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--proxy-pac-url=http://x"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--headless=sh"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--no-sandbox=x"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":["--window-size=800,600 --renderer-cmd-prefix=sh"]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":[7]}}`, "goog:chromeOptions.args[0]"},
		{`{"goog:chromeOptions":{"args":"--lang=de"}}`, "goog:chromeOptions.args"},
		{`{"goog:chromeOptions":{"prefs":{"download.default_directory":"/etc"}}}`, "goog:chromeOptions.prefs.download.default_directory"},
		{`{"goog:chromeOptions":{"prefs":{"download":{"default_directory":"/etc"}}}}`, "goog:chromeOptions.prefs.download"},
		{`{"goog:chromeOptions":{"extensions":["x"]}}`, "goog:chromeOptions.extensions"},
		{`{"goog:chromeOptions":{"debuggerAddress":"127.0.0.1:1"}}`, "goog:chromeOptions.debuggerAddress"},
		{`{"goog:chromeOptions":{"excludeSwitches":["user-data-dir"]}}`, "goog:chromeOptions.excludeSwitches[0]"},
		{`{"goog:chromeOptions":{"mobileEmulation":{"x":1}}}`, "goog:chromeOptions.mobileEmulation.x"},
		{`{"goog:chromeOptions":{"detach":true}}`, "goog:chromeOptions.detach"},
		{`{"goog:chromeOptions":7}`, "goog:chromeOptions"},
		{`{"ms:edgeOptions":{"binary":"/bin/sh"}}`, "ms:edgeOptions.binary"},
		{`{"ms:edgeOptions":{"args":["renderer-cmd-prefix=sh"]}}`, "ms:edgeOptions.args[0]"},
		{`{"ms:edgeOptions":{"wdpAddress":"10.0.0.1"}}`, "ms:edgeOptions.wdpAddress"},
		{`{"moz:firefoxOptions":{"binary":"/bin/sh"}}`, "moz:firefoxOptions.binary"},
		{`{"moz:firefoxOptions":{"args":["-profile","/etc"]}}`, "moz:firefoxOptions.args[0]"},
		{`{"moz:firefoxOptions":{"args":["--start-debugger-server=6000"]}}`, "moz:firefoxOptions.args[0]"},
		{`{"moz:firefoxOptions":{"prefs":{"network.proxy.type":1}}}`, "moz:firefoxOptions.prefs.network.proxy.type"},
		{`{"moz:firefoxOptions":{"prefs":{"browser.download.dir":"/etc"}}}`, "moz:firefoxOptions.prefs.browser.download.dir"},
		{`{"moz:firefoxOptions":{"prefs":{"security.sandbox.content.level":0}}}`, "moz:firefoxOptions.prefs.security.sandbox.content.level"},
		{`{"moz:firefoxOptions":{"profile":"UEs="}}`, "moz:firefoxOptions.profile"},
		{`{"moz:firefoxOptions":{"env":{"LD_PRELOAD":"x"}}}`, "moz:firefoxOptions.env"},
		{`{"moz:debuggerAddress":true}`, "moz:debuggerAddress"},
		{`{"proxy":{"proxyType":"pac","proxyAutoconfigUrl":"http://169.254.169.254/"}}`, "proxy"},
		{`{"proxy":{"proxyType":"manual","httpProxy":"10.0.0.1:80"}}`, "proxy"},
		{`{"proxy":{"proxyType":"autodetect"}}`, "proxy"},
		{`{"proxy":{"proxyType":"direct","httpProxy":"10.0.0.1:80"}}`, "proxy"},
		{`{"se:ieOptions":{"ie.browserCommandLineSwitches":"x"}}`, "se:ieOptions"},
		{`{"se:videoName":"../../etc/x"}`, "se:videoName"},
		{`{"se:screenResolution":"1x1 -fbdir /tmp"}`, "se:screenResolution"},
		{`{"se:timeZone":"../../etc/passwd"}`, "se:timeZone"},
		{`{"safari:diagnose":true}`, "safari:diagnose"},
		{`{"webkitgtk:browserOptions":{"binary":"/bin/sh"}}`, "webkitgtk:browserOptions"},
		{`{"goog:unknown":true}`, "goog:unknown"},
		{`{"appium:app":"/etc/passwd"}`, "appium:app"},
		{`{"appium:app":"file:///etc/passwd"}`, "appium:app"},
		{`{"appium:app":["storage:1"]}`, "appium:app"},
		{`{"appium:options":{"app":"/etc/passwd"}}`, "appium:options.app"},
		{`{"appium:options":{"appium:chromedriverExecutable":"/bin/sh"}}`, "appium:options.appium:chromedriverExecutable"},
		{`{"appium:options":["x"]}`, "appium:options"},
		{`{"appium:automationName":"Mac2","appium:bundleId":"com.apple.Terminal"}`, "appium:automationName"},
		{`{"appium:automationName":"Windows"}`, "appium:automationName"},
		{`{"appium:adbPath":"/bin/sh"}`, "appium:adbPath"},
		{`{"appium:chromedriverExecutable":"/bin/sh"}`, "appium:chromedriverExecutable"},
		{`{"appium:chromedriverExecutableDir":"/tmp"}`, "appium:chromedriverExecutableDir"},
		{`{"appium:chromeOptions":{"binary":"/bin/sh"}}`, "appium:chromeOptions.binary"},
		{`{"appium:avdArgs":"-x"}`, "appium:avdArgs"},
		{`{"appium:otherApps":"[\"/etc/passwd\"]"}`, "appium:otherApps"},
		{`{"appium:webDriverAgentUrl":"http://10.0.0.1"}`, "appium:webDriverAgentUrl"},
		{`{"appium:remoteAdbHost":"10.0.0.1"}`, "appium:remoteAdbHost"},
		{`{"appium:systemPort":8200}`, "appium:systemPort"},
		{`{"appium:wdaLocalPort":8100}`, "appium:wdaLocalPort"},
		{`{"appium:appActivity":".Main; rm -rf /sdcard"}`, "appium:appActivity"},
		{`{"appium:appActivity":".Main -d x"}`, "appium:appActivity"},
		{`{"appium:appPackage":"-a"}`, "appium:appPackage"},
		{`{"appium:optionalIntentArguments":"--es x"}`, "appium:optionalIntentArguments"},
		{`{"appium:processArguments":{"env":{"DYLD_INSERT_LIBRARIES":"x"}}}`, "appium:processArguments"},
		{`{"appium:prebuiltWDAPath":"/x"}`, "appium:prebuiltWDAPath"},
		{`{"selenoid:options":{"env":["LD_PRELOAD=x"]}}`, "selenoid:options.env"},
		{`{"selenoid:options":{"hostsEntries":["x:1.2.3.4"]}}`, "selenoid:options.hostsEntries"},
		{`{"selenoid:options":{"screenResolution":"1x1 -fbdir /"}}`, "selenoid:options.screenResolution"},
		{`{"moon:options":{"args":["x"]}}`, "moon:options.args"},
		{`{"acme:options":{"command":"x"}}`, "acme:options.command"},
		{`{"acme:options":{"app":"/etc/passwd"}}`, "acme:options.app"},
		{`{"acme:options":7}`, "acme:options"},
		{`{"sauce:options":{"prerun":{"executable":"http://x/sh"}}}`, "sauce:options.prerun"},
		{`{"bstack:options":{"goog:chromeOptions":{"binary":"/bin/sh"}}}`, "bstack:options.goog:chromeOptions"},
		{`{"LT:Options":{"chromeOptions":{"binary":"/bin/sh"}}}`, "LT:Options.chromeOptions"},
		{`{"bstack:options":{"deep":{"a":{"b":1}}}}`, "bstack:options.deep"},
		{`{"slipway:options":{"appium:adbPath":"/bin/sh"}}`, "slipway:options.appium:adbPath"},
	} {
		var c Capabilities
		require.NoError(t, json.Unmarshal([]byte(test.capabilities), &c))
		err := CheckPermitted(&Target{Capabilities: c}, "slipway")
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong, test.capabilities)
		require.Equal(t, "capabilities."+test.path, wrong.Path, test.capabilities)
	}
}

func TestHarmlessCapabilitiesArePermitted(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{
		`{}`, `{"browserName":"chrome","platformName":"Windows 11","browserVersion":"latest","acceptInsecureCerts":true,` +
			`"pageLoadStrategy":"eager"}`,
		`{"timeouts":{"script":1000},"unhandledPromptBehavior":"ignore","webSocketUrl":true,"setWindowRect":true,` +
			`"strictFileInteractability":false}`,
		`{"goog:chromeOptions":{"args":["--headless=new","no-sandbox","--disable-gpu","window-size=800x600","--user-agent=X (Y; Z)"],
			"prefs":{"intl.accept_languages":"de","profile.default_content_setting_values.geolocation":1},
			"mobileEmulation":{"deviceName":"Pixel 7"},"excludeSwitches":["enable-automation"],"useAutomationExtension":false,"w3c":true}}`,
		`{"goog:loggingPrefs":{"browser":"ALL"},"ms:edgeOptions":{"args":["--lang=de"]}}`,
		`{"moz:firefoxOptions":{"args":["-headless","--width","1280"],"prefs":{"intl.accept_languages":"de","geo.enabled":true,` +
			`"permissions.default.camera":1},"log":{"level":"info"}}}`,
		`{"proxy":{"proxyType":"direct"}}`, `{"proxy":null,"goog:chromeOptions":null}`,
		`{"se:recordVideo":true,"se:screenResolution":"1280x900","se:timeZone":"Europe/Berlin","se:name":"Sign in: does it work?"}`,
		`{"platformName":"Android","appium:app":"storage:12","appium:automationName":"UiAutomator2","appium:deviceName":"Google Pixel 8",
			"appium:appPackage":"org.shop","appium:appActivity":"org.shop.Main$Inner, .Start*","appium:noReset":true,"appium:newCommandTimeout":90,
			"appium:autoGrantPermissions":true,"appium:language":"de","appium:udid":"emulator-5554"}`,
		`{"platformName":"iOS","appium:options":{"app":"storage:filename=Shop.ipa","appium:bundleId":"org.shop",` +
			`"processArguments":{"args":["-test"]}}}`,
		`{"appium:app":"https://x.example.com/app.apk"}`,
		`{"sauce:options":{"name":"x","build":"y","screenResolution":"1280x1024","tags":["a"],"timeouts":{"idle":90},"extendedDebugging":true}}`,
		`{"bstack:options":{"os":"OS X","osVersion":"Sonoma","userName":"u","accessKey":"k","networkLogs":"true","app":"bs://abc",` +
			`"appium:noReset":true}}`,
		`{"LT:Options":{"build":"x","w3c":true,"geoLocation":"DE"}}`,
		`{"slipway:options":{"name":"Sign in / out; again","build":"12","tunnelName":"office"}}`,
		`{"acme:options":{"name":"n","session_name":"s","tags":["x"],"enableVNC":true,"timeZone":"UTC"}}`,
	} {
		var c Capabilities
		require.NoError(t, json.Unmarshal([]byte(capabilities), &c))
		require.NoError(t, CheckTarget(&Target{Capabilities: c}), capabilities)
		require.NoError(t, CheckPermitted(&Target{Capabilities: c}, "slipway"), capabilities)
	}
	require.NoError(t, CheckPermitted(nil, "slipway"))
	require.NoError(t, CheckPermitted(&Target{Capabilities: Capabilities{"acme:options": map[string]any{"lane": "x"}}}, "acme"),
		"the vendor's own")
	require.Error(t, CheckPermitted(&Target{Capabilities: Capabilities{"acme:options": map[string]any{"lane": "x"}}}, "slipway"))
}

func TestAppAddress(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{"https://x/a.apk": "https://x/a.apk", "HTTP://x": "HTTP://x", "storage:1": "",
		"bs://x": "", "": ""} {
		require.Equal(t, want, AppAddress(Capabilities{"appium:app": app}), app)
	}
}
