package capability

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// permittedAppium are capabilities of Appium with texts or objects, with the form of
// their values. A flag names no program and no path, so that all flags are permitted;
// and so are numbers, except ports, by which a session could take another's connection.
// Activities and packages end in a shell of the device, which is shared as well: they
// have the form of identifiers. Source: the documentation of Appium's drivers UiAutomator2,
// Espresso and XCUITest (appium.io).
var permittedAppium = map[string]func(any) bool{
	"automationName": oneOf("uiautomator2", "espresso", "xcuitest", "flutter", "flutterintegration",
		"safari", "gecko", "chromium"),
	"deviceName":                       isLabel,
	"platformVersion":                  isVersion,
	"platformName":                     isLabel,
	"browserName":                      isLabel,
	"udid":                             isIdentifier,
	"deviceType":                       isLabel,
	"orientation":                      oneOf("portrait", "landscape"),
	"language":                         isIdentifier,
	"locale":                           isIdentifier,
	"localeScript":                     isIdentifier,
	"appPackage":                       isIdentifier,
	"appActivity":                      isActivity,
	"appWaitPackage":                   isActivity,
	"appWaitActivity":                  isActivity,
	"bundleId":                         isIdentifier,
	"intentAction":                     isIdentifier,
	"intentCategory":                   isIdentifier,
	"calendarFormat":                   isIdentifier,
	"autoWebviewName":                  isIdentifier,
	"gpsEnabled":                       isBool,
	"networkSpeed":                     isIdentifier,
	"appiumVersion":                    isVersion,
	"unlockType":                       oneOf("pin", "pinwithkeyevent", "password", "passwordwithkeyevent", "pattern", "patternwithkeyevent"),
	"unlockKey":                        matches(`^[A-Za-z0-9]{1,64}$`),
	"scaleFactor":                      matches(`^[0-9.]{1,10}$`),
	"userProfile":                      isIdentifier,
	"processArguments":                 isProcessArguments,
	"appPushTimeout":                   isNumber,
	"name":                             isLabel,
	"nativeWebScreenshot":              isBool,
	"permissions":                      isPermissions,
	"simulatorPasteboardAutomaticSync": oneOf("on", "off", "system"),
}

// isActivity: names of activities and packages, several by commas, with wildcards.
var isActivity = matches(`^[A-Za-z0-9._*$]+(, ?[A-Za-z0-9._*$]+)*$`)

// oneOf returns the check of a text that is one of some, without regard to case.
func oneOf(texts ...string) func(any) bool {
	return func(value any) bool {
		text, ok := value.(string)
		return ok && slices.Contains(texts, strings.ToLower(text))
	}
}

// isProcessArguments: arguments of the app under test. Its environment could load a
// library into the processes of a simulator, which are processes of the hub's machine.
func isProcessArguments(value any) bool {
	members, ok := object(value)
	if !ok || len(members) > 1 {
		return false
	}
	return len(members) == 0 || isPlainList(members["args"])
}

// isPermissions: the answers of a simulator to the questions of an app, as JSON in a
// text: {"org.app":{"camera":"yes"}}.
var isPermissions = matches(`^[A-Za-z0-9._{}":, -]{2,1000}$`)

// checkAppium checks a capability of Appium by its name without the prefix.
func checkAppium(path, name string, value any) error {
	rule, known := permittedAppium[name]
	switch {
	case value == nil, isBool(value):
		return nil
	case name == "app":
		return checkApp(path, value)
	case name == "chromeOptions":
		return CheckChromiumOptions(path, value)
	case known && rule(value):
		return nil
	case isNumber(value) && !known && !strings.HasSuffix(strings.ToLower(name), "port"):
		return nil
	case known:
		return step.Invalid(path, "has not one of the values that are permitted")
	}
	return step.Invalid(path, notPermitted)
}

// checkAppiumOptions checks appium:options, whose members are capabilities of Appium
// with or without their prefix.
func checkAppiumOptions(path string, value any) error {
	members, ok := object(value)
	if !ok {
		return step.Invalid(path, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := checkAppium(path+"."+name, strings.TrimPrefix(name, "appium:"), members[name]); err != nil {
			return err
		}
	}
	return nil
}
