// Package artifact reads packages of apps: what is in an APK, AAB, APKS, XAPK,
// IPA, tvOS or macOS archive, a dSYM or a ProGuard mapping. It reads through an
// io.ReaderAt and does not depend on where the bytes are; of a large package it
// reads the directory and the few entries that matter.
//
// Everything comes from outside and is treated as hostile: sizes after inflation,
// counts, depths and times are bounded (see the limits), no entry's name ever
// becomes a path, and a decoder that panics counts as one that failed. What cannot
// be decoded never rejects a package whose kind is known: it becomes a warning, and
// the package has what could be read.
//
// A file that is no package, or whose archive is broken, is an *InvalidError
// with the reason; all other errors come from the reader.
package artifact

import (
	"io"
	"time"
)

// Kind is the kind of a file.
type Kind string

// The kinds.
const (
	APK     Kind = "apk"
	AAB     Kind = "aab"
	APKS    Kind = "apks" // also XAPK and APKM: an archive of APKs
	IPA     Kind = "ipa"  // iOS and tvOS
	Mac     Kind = "mac"  // a zip with X.app
	DSYM    Kind = "dsym"
	Mapping Kind = "mapping" // ProGuard or R8
	Native  Kind = "native"  // a zip with native libraries of Android
	Generic Kind = "generic"
)

// The platforms that are read from packages; that of a generic file is the
// request's.
const (
	Android = "Android"
	IOS     = "iOS"
	TVOS    = "tvOS"
	MacOS   = "macOS"
)

// InvalidError is why a file is no package.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

// Package is the description of a package. Unknown texts are "".
type Package struct {
	Kind         Kind
	Platform     string
	Name         string // the app's label; the package name when it has none
	PackageName  string // application id or bundle identifier
	Version      string
	VersionCode  string
	MinOSVersion string // Android: the API level
	TargetOS     string
	ABIs         []string // sorted
	Debuggable   bool
	Splits       []string // of an archive of APKs or modules of a bundle
	Tool         string   // that built it, with its version, such as bundletool's
	Icon         []byte   // PNG, square, at most IconSize pixels; nil: none could be read
	Signer       *Signer
	Provisioning *Provisioning
	Images       []Image  // Apple: the architectures of the main executable
	HasSDK       bool     // contains a library or framework of Input.Vendor
	Warnings     []string // what could not be read, in words for people
}

// IconSize is the side of stored icons in pixels: twice what pages show.
const IconSize = 256

// Signer is who signed an Android package.
type Signer struct {
	Scheme  string    `json:"scheme"` // highest of v1, v2, v3, v3.1 that is present
	Schemes []string  `json:"schemes"`
	SHA256  string    `json:"sha256"` // of the certificate, lower-case hex
	Subject string    `json:"subject"`
	Expires time.Time `json:"expires"`
}

// Provisioning is the embedded profile of an Apple package.
type Provisioning struct {
	Name     string    `json:"name"`
	UUID     string    `json:"uuid"`
	Team     string    `json:"team"`
	TeamName string    `json:"team_name"`
	Type     string    `json:"type"` // development, ad-hoc, enterprise, app-store
	Expires  time.Time `json:"expires"`
	Devices  []string  `json:"devices"` // UDIDs; at most MaxDevices
}

// Symbols is the description of a symbols file.
type Symbols struct {
	Kind    Kind     `json:"kind"`
	Images  []Image  `json:"images,omitempty"`   // dSYM
	MapID   string   `json:"map_id,omitempty"`   // mapping: pg_map_id
	MapHash string   `json:"map_hash,omitempty"` // mapping: pg_map_hash
	Tool    string   `json:"tool,omitempty"`     // mapping: compiler and version
	Notes   []string `json:"notes,omitempty"`
}

// Image is one architecture of a Mach-O file with symbols.
type Image struct {
	Name string `json:"name"`
	Arch string `json:"arch"`
	UUID string `json:"uuid"` // upper-case hex with hyphens, as Apple writes it
}

// Input is a file to inspect.
type Input struct {
	Reader io.ReaderAt
	Size   int64
	Name   string // the client's: a hint, never a path
	Vendor string // the vendor whose SDK HasSDK looks for, such as "slipway"
}
