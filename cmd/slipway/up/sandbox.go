package up

import (
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// noSandboxWarning returns a warning where pages of users run without Chromium's sandbox
// on an installation that others reach; "" else.
func noSandboxWarning(arguments []string, public string) string {
	if public == "" || setting.LoopbackURL(public) {
		return ""
	}
	for _, argument := range arguments {
		if argument == "--no-sandbox" {
			return "the managed browser runs with --no-sandbox: a page that breaks out of it has the rights of this process. " +
				"Run slipway up as a user other than root, or set SLIPWAY_WEBDRIVER_URL to a browser in a container of its own"
		}
	}
	return ""
}
