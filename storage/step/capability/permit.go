package capability

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// notPermitted is why a capability is refused. Browsers of a hub are shared, and their
// options start programs, read files and open debuggers there.
const notPermitted = "is not permitted: what is not known to be harmless could run programs, or reach files and networks, on the machine " +
	"of the browsers that all organizations share"

// CheckPermitted refuses capabilities that reach more than a browser or an app: programs,
// folders, extensions, debuggers, proxies and settings of the remote end. It knows what
// is harmless, and refuses everything else by name, whatever may come with the next
// version of a driver. vendor names the options that Slipway itself adds. Types, depth
// and size are CheckTarget's. The error is a *step.InvalidError with a path such as
// capabilities.goog:chromeOptions.args[0].
func CheckPermitted(t *Target, vendor string) error {
	if t.Empty() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Capabilities)) {
		if err := checkPermitted(capabilitiesPath+"."+name, name, t.Capabilities[name], vendor); err != nil {
			return err
		}
	}
	return nil
}

func checkPermitted(path, name string, value any, vendor string) error {
	if value == nil { // stands for an absent capability
		return nil
	}
	rule, known := permittedCapabilities[name]
	prefix, member, vendored := strings.Cut(name, ":")
	switch {
	case name == "proxy":
		members, _ := object(value)
		if kind := members["proxyType"]; len(members) == 1 && (kind == "direct" || kind == "system") {
			return nil
		}
		return step.Invalid(path, "is not permitted; register a tunnel, and name it in scTunnelName")
	case name == "goog:chromeOptions", name == "ms:edgeOptions":
		return CheckChromiumOptions(path, value)
	case name == "moz:firefoxOptions":
		return checkFirefoxOptions(path, value)
	case name == "appium:options":
		return checkAppiumOptions(path, value)
	case prefix == "appium":
		return checkAppium(path, member, value)
	case known && rule(value):
		return nil
	case known:
		return step.Invalid(path, "has not one of the values that are permitted")
	case vendored && strings.EqualFold(member, "options"):
		return checkVendorOptions(path, prefix, value, vendor)
	case standardCapabilities[name].is != nil:
		return nil // CheckTarget has looked at them
	}
	return step.Invalid(path, notPermitted)
}

// permittedCapabilities are those of vendors that say how a session looks and is
// recorded, with the form of their values. Sources: the documentation of geckodriver,
// safaridriver and Edge, and of Selenium Grid for se:.
var permittedCapabilities = map[string]func(any) bool{
	"goog:loggingPrefs":                    isLogLevels,
	"ms:loggingPrefs":                      isLogLevels,
	"ms:inPrivate":                         isBool,
	"moz:accessibilityChecks":              isBool,
	"moz:webdriverClick":                   isBool,
	"moz:useNonSpecCompliantPointerOrigin": isBool,
	"safari:automaticInspection":           isBool,
	"safari:deviceName":                    isLabel,
	"safari:deviceType":                    isLabel,
	"safari:deviceUDID":                    isIdentifier,
	"safari:platformVersion":               isVersion,
	"safari:platformBuildVersion":          isVersion,
	"safari:useSimulator":                  isBool,
	"se:downloadsEnabled":                  isBool,
	"se:name":                              isLabel,
	"se:recordVideo":                       isBool,
	"se:screenResolution":                  isResolution,
	"se:timeZone":                          isTimeZone,
}

// matches returns the check of a text by its form.
func matches(form string) func(any) bool {
	compiled := regexp.MustCompile(form)
	return func(value any) bool {
		text, ok := value.(string)
		return ok && compiled.MatchString(text)
	}
}

var (
	// isLabel: names for people and of devices. No slash, semicolon or dollar: a label is
	// no path and no command.
	isLabel      = matches(`^[\p{L}\p{N} ()\[\]._,:#@+=!?%'"’-]{0,255}$`)
	isIdentifier = matches(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,254}$`)
	isVersion    = matches(`^[A-Za-z0-9 ._-]{1,100}$`)
	isResolution = matches(`^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}(x[1-9][0-9]?)?$`)
	isTimeZone   = matches(`^[A-Za-z][A-Za-z0-9_+-]{0,30}(/[A-Za-z0-9_+-]{1,30}){0,2}$`)
	isLogLevel   = matches(`^[A-Za-z]{1,20}$`)
)

func isLogLevels(value any) bool {
	members, ok := object(value)
	for name, level := range members {
		ok = ok && isLogLevel(name) && isLogLevel(level)
	}
	return ok && len(members) <= 20
}

// cloudOptions are the prefixes, in lower case, of device and browser clouds, which run
// each session on a machine of its own. Their options are data for the vendor.
var cloudOptions = []string{"sauce", "bstack", "lt", "cbt", "tb", "cloud", "kobiton", "headspin", "perfecto", "digitalai",
	"experitest", "mobitru", "bitbar", "pcloudy", "gigafox", "testsigma"}

// labelOptions are what options of any vendor may hold, by their name in lower case
// without "_": what a session is called, and what is recorded.
var labelOptions = map[string]func(any) bool{
	"name": isString, "build": isString, "buildname": isString, "sessionname": isString, "projectname": isString,
	"project": isString, "tunnelname": isString, "tags": isPlainList,
	"screenresolution": isResolution, "timezone": isTimeZone,
	"enablevnc": isBool, "enablevideo": isBool, "enablelog": isBool, "maxduration": isNumber, "idletimeout": isNumber,
}

// checkVendorOptions checks PREFIX:options.
func checkVendorOptions(path, prefix string, value any, vendor string) error {
	members, ok := object(value)
	if !ok {
		return step.Invalid(path, "must be an object")
	}
	prefix = strings.ToLower(prefix)
	known := prefix == strings.ToLower(vendor) || slices.Contains(cloudOptions, prefix)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at, plain := path+"."+name, strings.ToLower(strings.ReplaceAll(name, "_", ""))
		switch nested, appium := strings.CutPrefix(name, "appium:"); {
		case members[name] == nil:
		case name == "app" || appium && nested == "app":
			if err := checkApp(at, members[name]); err != nil {
				return err
			}
		case appium:
			if err := checkAppium(at, nested, members[name]); err != nil {
				return err
			}
		case known && !isOfCloud(name, members[name]), !known && !isLabelOption(plain, members[name]):
			return step.Invalid(at, notPermitted)
		}
	}
	return nil
}

func isLabelOption(name string, value any) bool {
	rule, known := labelOptions[name]
	return known && rule(value)
}

// isOfCloud reports whether an option of a cloud holds data: a text, a number, a flag,
// a list of those, or an object of them (networkProfile, geoLocation, timeouts). Some
// clouds take programs to run before a test, and options of browsers in their own.
func isOfCloud(name string, value any) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, ":") || strings.HasSuffix(name, "options") ||
		slices.Contains([]string{"prerun", "postrun", "executable", "env", "args"}, name) {
		return false
	}
	members, ok := object(value)
	if !ok {
		return isScalar(value) || isPlainList(value)
	}
	for name, member := range members {
		ok = ok && isIdentifier(name) && !strings.Contains(name, ":") && isScalar(member)
	}
	return ok && len(members) <= 100
}

func isPlainList(value any) bool {
	list, ok := value.([]any)
	return ok && len(list) <= 100 && !slices.ContainsFunc(list, func(v any) bool { return !isScalar(v) })
}

func isScalar(value any) bool { return isString(value) || isBool(value) || isNumber(value) }

// appForm matches apps that are looked up by name: builds of the organization, apps that
// were uploaded to a cloud, and addresses, of which the caller checks where they lead. A
// path on the remote end's machine is none of them.
var appForm = regexp.MustCompile(`^(storage:|https?://|bs://|lt://|sauce-storage:|kobiton-store:|cloud:|PUBLIC:|PRIVATE:|GROUP:)`)

func checkApp(path string, value any) error {
	if text, ok := value.(string); ok && (text == "" || appForm.MatchString(text)) {
		return nil
	}
	return step.Invalid(path,
		"must name a build of the organization, as storage:BUILD_ID or storage:filename=NAME, an app of a device cloud, or "+
			"an http or https address")
}

// AppAddress returns the address of the app that capabilities name by one; "" where
// they name none, or a build.
func AppAddress(c Capabilities) string {
	app := App(c)
	if scheme, _, ok := strings.Cut(strings.ToLower(app), "://"); ok && (scheme == "http" || scheme == "https") {
		return app
	}
	return ""
}

// listAt checks each element of a list.
func listAt(path string, value any, most int, check func(path string, value any) error) error {
	list, ok := value.([]any)
	if !ok || len(list) > most {
		return step.Invalid(path, "must be a list of at most %d elements", most)
	}
	for i := range list {
		if err := check(fmt.Sprintf("%s[%d]", path, i), list[i]); err != nil {
			return err
		}
	}
	return nil
}
