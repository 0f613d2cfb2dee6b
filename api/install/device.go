package install

import (
	"regexp"
	"strings"
)

// device is what a visitor holds, as far as the button cares.
type device int

const (
	desktop device = iota
	android
	apple // iPhone, iPod, iPad
	mac   // a Mac, or an iPad, whose browser says that it is one
)

// deviceOf reads the User-Agent header. It is a guess for convenience: nothing
// is refused because of it.
func deviceOf(userAgent string) device {
	has := func(s string) bool { return strings.Contains(userAgent, s) }
	switch {
	case has("Windows Phone"): // names Android and iPhone as well
		return desktop
	case has("iPhone"), has("iPad"), has("iPod"):
		return apple
	case has("Android"):
		return android
	case has("Macintosh"):
		return mac
	}
	return desktop
}

// Parts of a User-Agent that name a device. What iOS itself loads has the model and the
// version; browsers have less of it each year.
var (
	appleModel   = regexp.MustCompile(`\bmodel/([A-Za-z]{2,20}[0-9]{1,3},[0-9]{1,3})\b`)
	appleVersion = regexp.MustCompile(`\b(iOS|iPadOS)/([0-9.]{1,12})`)
	browserApple = regexp.MustCompile(`\b(iPhone|iPad|iPod)\b[^)]*? OS ([0-9]{1,3}(?:_[0-9]{1,3}){0,2})\b`)
	browserDroid = regexp.MustCompile(`\bAndroid ([0-9.]{1,12})((?:; ?[^;()]{1,80}){0,4})\)`)
)

// maxAgent is how much of a User-Agent is looked at, in bytes.
const maxAgent = 512

// modelOf names the device of a visitor as an SDK does ("Pixel 8, Android 15"), as far as the
// User-Agent says it; "" for what is no device that a build is installed on.
func modelOf(userAgent string) string {
	agent := strings.ToValidUTF8(userAgent[:min(len(userAgent), maxAgent)], "")
	if model := appleModel.FindStringSubmatch(agent); model != nil {
		if version := appleVersion.FindStringSubmatch(agent); version != nil {
			return model[1] + ", " + version[1] + " " + version[2]
		}
		return model[1]
	}
	switch deviceOf(agent) {
	case apple:
		if found := browserApple.FindStringSubmatch(agent); found != nil {
			return found[1] + ", iOS " + strings.ReplaceAll(found[2], "_", ".")
		}
		return "iPhone or iPad"
	case android:
		found := browserDroid.FindStringSubmatch(agent)
		if found == nil {
			return "Android"
		}
		parts := strings.Split(found[2], ";")
		model, _, _ := strings.Cut(strings.TrimSpace(parts[len(parts)-1]), " Build/")
		if model == "" || model == "K" || strings.HasPrefix(model, "rv:") { // browsers that keep the model to themselves
			return "Android " + found[1]
		}
		return model + ", Android " + found[1]
	case mac:
		return "Mac"
	}
	return ""
}
