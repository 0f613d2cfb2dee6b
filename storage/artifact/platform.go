package artifact

import "strings"

// Platform is what an app runs on, in the one spelling that is stored and shown; ""
// where it is not known. Versions 1, 2 and 3 of the interface, uploads and webhooks
// all take it in any case, and show it as it stands here.
type Platform string

// The platforms that are read from packages.
const (
	Android Platform = "Android"
	IOS     Platform = "iOS"
	TVOS    Platform = "tvOS"
	MacOS   Platform = "macOS"
)

// The platforms that only generic files have: a request names them.
const (
	Windows     Platform = "Windows"
	Linux       Platform = "Linux"
	Switch      Platform = "Switch"
	Xbox        Platform = "Xbox"
	PlayStation Platform = "PlayStation"
	Web         Platform = "Web"
)

// Platforms are all of them, as messages list them.
func Platforms() []Platform {
	return []Platform{Android, IOS, TVOS, MacOS, Windows, Linux, Switch, Xbox, PlayStation, Web}
}

// ParsePlatform returns the platform of a name in any case, without spaces around it;
// "" for an empty one. ok is false for a name that is none.
func ParsePlatform(name string) (platform Platform, ok bool) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", true
	}
	for _, p := range Platforms() {
		if strings.EqualFold(name, string(p)) {
			return p, true
		}
	}
	return "", false
}

// PlatformRule is what a message says of a name that is none.
const PlatformRule = "must be one of Android, iOS, tvOS, macOS, Windows, Linux, Switch, Xbox, PlayStation and Web"

// Generic reports whether files of the platform are taken without being read: those of
// the platforms that have no package format here, and of macOS, which has others beside it.
func (p Platform) Generic() bool {
	switch p {
	case "", Android, IOS, TVOS:
		return false
	}
	return true
}
