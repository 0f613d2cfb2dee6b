package inspect

import (
	"fmt"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// readGeneric returns a file that is no app as a generic one, where that is
// allowed: it is not looked into, so that its name is all that is known. reason
// is why it is no app.
func readGeneric(in artifact.Input, platform string, generic bool, reason string) (*artifact.Package, error) {
	wanted, ok := artifact.ParsePlatform(platform)
	switch {
	case !ok:
		return nil, &artifact.InvalidError{Reason: fmt.Sprintf("%s; the platform %q %s", reason, cleanText(platform, 40), artifact.PlatformRule)}
	case wanted == artifact.Android, wanted == artifact.IOS, wanted == artifact.TVOS:
		// These are read from their packages; a request's word for it does not count.
		wanted = ""
	}
	if !generic && wanted == "" {
		return nil, &artifact.InvalidError{Reason: reason}
	}
	return &artifact.Package{Kind: artifact.Generic, Platform: wanted, Name: fileTitle(in.Name), NotApp: reason}, nil
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
