package inspect

import (
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// apkDepth is how many folders APKs of a set are in: bundletool has them in
// splits/ and standalones/.
const apkDepth = 1

// isZip reports whether a file is a zip by its first bytes: an entry, or the
// end of an archive that has none.
func isZip(in artifact.Input) (bool, error) {
	var magic [4]byte
	n, err := in.Reader.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	head := string(magic[:n])
	return head == "PK\x03\x04" || head == "PK\x05\x06", nil
}

// detect returns the kind of an archive by its names; Generic when it is unknown.
func detect(entries []archive.Entry) artifact.Kind {
	var manifest, config, module, hint, base bool
	apks := 0
	for _, e := range entries {
		switch e.Name {
		case "AndroidManifest.xml":
			manifest = true
		case "BundleConfig.pb":
			config = true
		case "base/manifest/AndroidManifest.xml":
			module = true
		case "toc.pb", "manifest.json", "info.json":
			hint = true
		}
		if name, ok := apkName(e.Name); ok {
			apks++
			base = base || strings.HasPrefix(name, "base")
		}
	}
	switch {
	case manifest:
		return artifact.APK
	case config || module:
		return artifact.AAB
	case apks > 1 || apks == 1 && (hint || base):
		return artifact.APKS
	case apple.IsApp(entries):
		return artifact.IPA
	case apple.IsMac(entries):
		return artifact.Mac
	case apple.IsDSYM(entries):
		return artifact.DSYM
	case apple.IsSimulated(entries):
		return artifact.App
	}
	return artifact.Generic
}

// apkName returns the file name of an entry that is an APK.
func apkName(entry string) (string, bool) {
	if len(entry) < 4 || !strings.EqualFold(entry[len(entry)-4:], ".apk") || strings.HasPrefix(entry, "__MACOSX") ||
		strings.Count(entry, "/") > apkDepth {
		return "", false
	}
	name := entry[strings.LastIndexByte(entry, '/')+1:]
	return name, !strings.HasPrefix(name, ".")
}

// notAppReason returns why an archive is no app, with what to do where that is
// clear.
func notAppReason(entries []archive.Entry, kind artifact.Kind) string {
	if kind == artifact.DSYM {
		return "the archive is a dSYM: send it as symbols_file together with its app"
	}
	if len(entries) == 0 {
		return "the archive is empty"
	}
	for _, e := range entries {
		switch _, apk := apkName(e.Name); {
		case apk:
			return "the archive holds a single APK: send the APK itself"
		case strings.HasSuffix(strings.ToLower(e.Name), ".ipa"):
			return "the archive holds an IPA: send the IPA itself"
		case strings.HasSuffix(e.Name, ".app/Info.plist"):
			return "the archive holds an app of iOS outside of Payload: export it as an IPA"
		}
	}
	return "the archive is no app: it has neither an AndroidManifest.xml, nor APKs, nor Payload/*.app, nor an app of macOS"
}
