package apple

import (
	"cmp"
	"context"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// macDepth is how many folders may be around X.app.
const macDepth = 4

// bundle is the folder of an app in an archive.
type bundle struct {
	ctx     context.Context
	archive *archive.Archive
	decoder *icon.Decoder
	root    string // with a slash at its end; of a Mac app the folder Contents
}

// normalizeName returns an entry's name for comparison: some tools write
// backslashes or begin with "./". It returns "" for what is no file of an app:
// folders, names with "..", and what the Finder adds.
func normalizeName(name string) string {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	if strings.HasSuffix(name, "/") || strings.Contains(name, "..") && hasParent(name) ||
		strings.HasPrefix(name, "__MACOSX/") || strings.Contains(name, "/__MACOSX/") {
		return ""
	}
	return name
}

// sameName reports whether a name may be the same as another after it is normalized. It
// takes no memory: an archive has very many names, and is looked through for each file.
func sameName(name, want string) bool {
	if len(name) > 2 && name[0] == '.' && (name[1] == '/' || name[1] == '\\') {
		name = name[2:]
	}
	if len(name) != len(want) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c != want[i] && (c != '\\' || want[i] != '/') {
			return false
		}
	}
	return true
}

func hasParent(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// IsApp reports whether an archive is laid out as an IPA.
func IsApp(entries []archive.Entry) bool {
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(normalizeName(e.Name), "Payload/"); ok && strings.Contains(rest, ".app/") {
			return true
		}
	}
	return false
}

// IsMac reports whether an archive holds an app of macOS.
func IsMac(entries []archive.Entry) bool {
	_, ok := macRoot(entries)
	return ok
}

// IsDSYM reports whether an archive holds files with debugging symbols.
func IsDSYM(entries []archive.Entry) bool {
	for _, e := range entries {
		if _, ok := dwarfName(e.Name); ok {
			return true
		}
	}
	return false
}

// appRoot returns the folder of an IPA's app: the Info.plist directly in
// Payload/*.app. Apps for watches and extensions are nested deeper and never
// found.
func appRoot(entries []archive.Entry) (string, bool) {
	for _, e := range entries {
		rest, ok := strings.CutPrefix(normalizeName(e.Name), "Payload/")
		if !ok {
			continue
		}
		if app, file, _ := strings.Cut(rest, "/"); file == "Info.plist" && strings.HasSuffix(app, ".app") {
			return "Payload/" + app + "/", true
		}
	}
	return "", false
}

// macRoot returns the folder of a Mac archive's app: the one with the fewest
// folders around it, and never one inside of another app.
func macRoot(entries []archive.Entry) (string, bool) {
	return outermost(entries, ".app/Contents/Info.plist", ".app/Contents/")
}

// simulatorRoot returns the folder of an app as simulators have it, likewise.
func simulatorRoot(entries []archive.Entry) (string, bool) {
	return outermost(entries, ".app/Info.plist", ".app/")
}

// IsSimulated reports whether an archive may hold an app for a simulator: one of
// iOS outside of Payload.
func IsSimulated(entries []archive.Entry) bool {
	_, ok := simulatorRoot(entries)
	return ok
}

// outermost returns the folder of the app whose file has the suffix.
func outermost(entries []archive.Entry, suffix, folder string) (string, bool) {
	best, depth := "", macDepth+1
	for _, e := range entries {
		app, ok := strings.CutSuffix(normalizeName(e.Name), suffix)
		if !ok || strings.Contains(app, ".app/") || strings.HasSuffix("/"+app, "/") {
			continue
		}
		if n := strings.Count(app, "/"); n < depth {
			best, depth = app+folder, n
		}
	}
	return best, best != ""
}

// name returns the name of the app's folder.
func (b bundle) name() string {
	app, _, _ := strings.Cut(b.root, ".app/")
	return app[strings.LastIndexByte(app, '/')+1:]
}

// find returns the first entries of a name inside the bundle.
func (b bundle) find(name string) []archive.Entry {
	var found []archive.Entry
	want := b.root + name
	for _, e := range b.archive.Entries() {
		if sameName(e.Name, want) && normalizeName(e.Name) == want {
			if found = append(found, e); len(found) == maxCopies {
				break
			}
		}
	}
	return found
}

// info reads Info.plist. Of several the first that has a bundle identifier
// counts.
func (b bundle) info(name string) (dict, error) {
	reason := "Info.plist cannot be read"
	for _, e := range b.find(name) {
		raw, err := b.archive.Read(e, maxPlist)
		if failed := cmp.Or(b.archive.Err(), b.ctx.Err()); failed != nil {
			return nil, failed
		}
		if err != nil {
			reason = "Info.plist cannot be read: " + err.Error()
			continue
		}
		info, err := decodePlist(raw)
		if err != nil {
			reason = "Info.plist cannot be read: " + err.Error()
			continue
		}
		if info.text("CFBundleIdentifier") != "" {
			return info, nil
		}
		reason = "Info.plist has no CFBundleIdentifier"
	}
	return nil, &artifact.InvalidError{Reason: reason}
}

// hasSDK reports whether the app carries the vendor's SDK: a framework or library
// in its folder of frameworks, or a bundle of resources (which an SDK that is
// linked statically leaves), whose name begins with the vendor's, in any case. An
// SDK without either is not found: it is code within the app's.
func (b bundle) hasSDK(vendor, frameworks, resources string) bool {
	if vendor == "" {
		return false
	}
	for i, e := range b.archive.Entries() {
		if i%1024 == 0 && b.ctx.Err() != nil {
			return false
		}
		rest, ok := strings.CutPrefix(normalizeName(e.Name), b.root)
		if !ok {
			continue
		}
		if inside, ok := strings.CutPrefix(rest, frameworks); ok && vendored(inside, vendor, ".framework", ".dylib") {
			return true
		}
		if inside, ok := strings.CutPrefix(rest, resources); ok && vendored(inside, vendor, ".bundle") {
			return true
		}
	}
	return false
}

// vendored reports whether a path begins with a folder or file of the vendor.
func vendored(path, vendor string, suffixes ...string) bool {
	name, _, _ := strings.Cut(path, "/")
	if len(name) < len(vendor) || !strings.EqualFold(name[:len(vendor)], vendor) {
		return false
	}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}
