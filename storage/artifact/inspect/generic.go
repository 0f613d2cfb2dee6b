package inspect

import (
	"fmt"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// platforms are those of generic files, as the contract writes them.
var platforms = []string{"Xbox", "PlayStation", "switch", "windows", "macos"}

// Platform returns a request's platform as the contract writes it, whatever its
// case; "" for Android, iOS and tvOS, which only their packages have. ok is false
// for one that there is none of.
func Platform(name string) (platform string, ok bool) {
	name = strings.TrimSpace(name)
	for _, p := range platforms {
		if strings.EqualFold(name, p) {
			return p, true
		}
	}
	for _, p := range []string{"", artifact.Android, artifact.IOS, artifact.TVOS} {
		if strings.EqualFold(name, p) {
			return "", true
		}
	}
	return "", false
}

// readGeneric takes a file that is no app for a generic one, where the request may
// have that: it is not looked into, its name is all that it says. reason is why it
// is no app.
func readGeneric(in artifact.Input, platform string, generic bool, reason string) (*artifact.Package, error) {
	wanted, ok := Platform(platform)
	switch {
	case !ok:
		return nil, &artifact.InvalidError{Reason: fmt.Sprintf("%s; the platform %q is not one of %s", reason, cleanText(platform, 40), strings.Join(platforms, ", "))}
	case !generic && wanted == "":
		return nil, &artifact.InvalidError{Reason: reason}
	}
	return &artifact.Package{Kind: artifact.Generic, Platform: wanted, Name: fileTitle(in.Name)}, nil
}

// fileTitle is a client's file name without folders and extension.
func fileTitle(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	if title := strings.TrimSuffix(name, path.Ext(name)); title != "" {
		return title
	}
	return name
}
