package inspect

import (
	"fmt"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// platforms are those of generic files, in their documented spelling.
var platforms = []string{"Xbox", "PlayStation", "switch", "windows", "macos"}

// Platform returns a request's platform in its documented spelling, whatever its
// case; "" for Android, iOS and tvOS, which only their packages have. ok is false
// for an unknown one.
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

// readGeneric returns a file that is no app as a generic one, where that is
// allowed: it is not looked into, so that its name is all that is known. reason
// is why it is no app.
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

// fileTitle returns a client's file name without folders and extension.
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
