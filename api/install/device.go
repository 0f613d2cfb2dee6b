package install

import "strings"

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
