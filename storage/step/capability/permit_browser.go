package capability

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	maxArguments   = 64
	maxPreferences = 64
	maxEmulation   = 8 << 10 // bytes as JSON
)

// chromiumArguments are those of Chromium that tests may set, with the form of their
// values; nil for none.
var chromiumArguments = map[string]*regexp.Regexp{
	"window-size":                      regexp.MustCompile(`^[1-9][0-9]{1,3}[,x][1-9][0-9]{1,3}$`),
	"lang":                             languages,
	"accept-lang":                      languages,
	"user-agent":                       regexp.MustCompile(`^[\x20-\x7e]{1,500}$`),
	"force-device-scale-factor":        regexp.MustCompile(`^[0-9](\.[0-9]{1,4})?$`),
	"autoplay-policy":                  regexp.MustCompile(`^[a-z-]{1,50}$`),
	"force-dark-mode":                  nil,
	"hide-scrollbars":                  nil,
	"disable-notifications":            nil,
	"use-fake-ui-for-media-stream":     nil,
	"use-fake-device-for-media-stream": nil,
}

var languages = regexp.MustCompile(`^[A-Za-z0-9,;=._*-]{1,200}$`)

// commonArguments are common in recordings and harmless: a browser of a hub gets them,
// and to a managed one they mean nothing.
var commonArguments = []string{"headless", "no-sandbox", "disable-setuid-sandbox", "disable-gpu", "disable-dev-shm-usage",
	"disable-infobars", "disable-popup-blocking", "incognito", "start-maximized", "start-fullscreen",
	"no-first-run", "no-default-browser-check", "disable-extensions", "disable-sync", "disable-translate",
	"disable-background-networking", "disable-component-update", "disable-default-apps", "mute-audio",
	"ignore-certificate-errors", "enable-automation"}

// excludedSwitches are the arguments of chromedriver that a test may have left out.
// Without its own folder, for example, a browser would use one that sessions share.
var excludedSwitches = []string{"enable-automation", "enable-logging", "disable-popup-blocking", "disable-default-apps",
	"disable-infobars", "ignore-certificate-errors"}

// ChromiumArgument reads an argument of Chromium as users write it, with or without
// dashes. common is true for those that a managed browser has or does not need; value is
// "" for none. The error is a *step.InvalidError of the path.
func ChromiumArgument(path string, item any) (name, value string, common bool, err error) {
	text, ok := item.(string)
	if !ok {
		return "", "", false, step.Invalid(path, "must be a text")
	}
	name, value, valued := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if slices.Contains(commonArguments, name) {
		if valued && (name != "headless" || !slices.Contains([]string{"new", "old", "chrome"}, value)) {
			return "", "", false, step.Invalid(path, "is --%s with a value that Chromium does not have", name)
		}
		return name, value, true, nil
	}
	form, known := chromiumArguments[name]
	if !known {
		return "", "", false, step.Invalid(path, "is the argument --%.100s, which %s", name, notPermitted)
	}
	if (form == nil) == valued || (form != nil && !form.MatchString(value)) {
		return "", "", false, step.Invalid(path, "is --%s with a value that Chromium does not have", name)
	}
	return name, value, false, nil
}

var contentSetting = regexp.MustCompile(`^profile\.default_content_setting_values\.[a-z_]{1,50}$`)

// CheckChromiumOptions checks goog:chromeOptions and ms:edgeOptions. The error is an
// *step.InvalidError with a path that begins with path.
func CheckChromiumOptions(path string, value any) error {
	options, ok := object(value)
	if !ok {
		return step.Invalid(path, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if err := checkChromiumOption(path+"."+name, name, options[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkChromiumOption(path, name string, value any) error {
	switch name {
	case "args":
		return listAt(path, value, maxArguments, func(path string, item any) error {
			_, _, _, err := ChromiumArgument(path, item)
			return err
		})
	case "prefs":
		return checkPreferences(path, value, chromiumPreference)
	case "mobileEmulation":
		return checkEmulation(path, value)
	case "excludeSwitches":
		return listAt(path, value, maxArguments, func(path string, item any) error {
			if text, ok := item.(string); ok && slices.Contains(excludedSwitches, strings.TrimLeft(text, "-")) {
				return nil
			}
			return step.Invalid(path, notPermitted)
		})
	case "useAutomationExtension", "w3c":
		if !isBool(value) {
			return step.Invalid(path, "must be true or false")
		}
		return nil
	}
	return step.Invalid(path, notPermitted)
}

func checkEmulation(path string, value any) error {
	members, ok := object(value)
	if doc, err := json.Marshal(members); !ok || err != nil || len(doc) > maxEmulation {
		return step.Invalid(path, "must be an object of at most %d bytes as JSON", maxEmulation)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains([]string{"deviceName", "deviceMetrics", "userAgent", "clientHints"}, name) {
			return step.Invalid(path+"."+name, "is no member of mobileEmulation")
		}
	}
	return nil
}

// checkPreferences checks an object of preferences by a rule, which returns what a
// value must be, "" where it is right, and whether the preference is known.
func checkPreferences(path string, value any, rule func(name string, value any) (must string, known bool)) error {
	members, ok := object(value)
	if !ok || len(members) > maxPreferences {
		return step.Invalid(path, "must be an object of at most %d members", maxPreferences)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch must, known := rule(name, members[name]); {
		case !known:
			return step.Invalid(path+"."+name, notPermitted)
		case must != "":
			return step.Invalid(path+"."+name, "%s", must)
		}
	}
	return nil
}

func chromiumPreference(name string, value any) (must string, known bool) {
	switch {
	case name == "intl.accept_languages":
		return mustBeLanguages(value), true
	case contentSetting.MatchString(name):
		return mustBeSetting(value), true
	}
	return "", false
}

func mustBeLanguages(value any) string {
	if text, ok := value.(string); ok && languages.MatchString(text) {
		return ""
	}
	return "must be a list of languages"
}

func mustBeSetting(value any) string {
	if n, ok := value.(float64); ok && n >= 0 && n <= 4 && n == float64(int(n)) {
		return ""
	}
	return "must be a number from 0 to 4"
}

// firefoxPreferences are those of Firefox that change what a page sees of its visitor,
// with the form of their values. Others name folders, proxies, programs for downloads,
// and switches of the sandbox.
var firefoxPreferences = map[string]func(any) bool{
	"general.useragent.override":                       matches(`^[\x20-\x7e]{1,500}$`),
	"dom.webnotifications.enabled":                     isBool,
	"dom.push.enabled":                                 isBool,
	"dom.disable_beforeunload":                         isBool,
	"dom.disable_open_during_load":                     isBool,
	"geo.enabled":                                      isBool,
	"geo.prompt.testing":                               isBool,
	"geo.prompt.testing.allow":                         isBool,
	"media.navigator.permission.disabled":              isBool,
	"media.navigator.streams.fake":                     isBool,
	"media.autoplay.default":                           isNumber,
	"layout.css.devPixelsPerPx":                        matches(`^-?[0-9](\.[0-9]{1,4})?$`),
	"layout.css.prefers-color-scheme.content-override": isNumber,
	"ui.systemUsesDarkTheme":                           isNumber,
	"ui.prefersReducedMotion":                          isNumber,
	"privacy.trackingprotection.enabled":               isBool,
}

var firefoxPermission = regexp.MustCompile(`^permissions\.default\.(camera|microphone|geo|desktop-notification|image)$`)

func firefoxPreference(name string, value any) (must string, known bool) {
	rule, known := firefoxPreferences[name]
	switch {
	case name == "intl.accept_languages":
		return mustBeLanguages(value), true
	case firefoxPermission.MatchString(name):
		return mustBeSetting(value), true
	case known && !rule(value):
		return "has not one of the values that are permitted", true
	}
	return "", known
}

// firefoxArguments are those of Firefox that tests may set; the value of a size is an
// argument of its own, or behind "=".
var firefoxArguments = regexp.MustCompile(`^(--?(headless|private|private-window)|--?(width|height)(=[1-9][0-9]{1,3})?|[1-9][0-9]{1,3})$`)

func checkFirefoxOptions(path string, value any) error {
	options, ok := object(value)
	if !ok {
		return step.Invalid(path, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		at := path + "." + name
		var err error
		switch name {
		case "args":
			err = listAt(at, options[name], maxArguments, func(path string, item any) error {
				if text, ok := item.(string); ok && firefoxArguments.MatchString(text) {
					return nil
				}
				return step.Invalid(path, notPermitted)
			})
		case "prefs":
			err = checkPreferences(at, options[name], firefoxPreference)
		case "log":
			if !isLogLevels(options[name]) {
				err = step.Invalid(at, `must be such as {"level":"info"}`)
			}
		default:
			err = step.Invalid(at, notPermitted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
