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
	App     Kind = "app"  // a zip with X.app for the simulator of a Mac
	DSYM    Kind = "dsym"
	Mapping Kind = "mapping" // ProGuard or R8
	Native  Kind = "native"  // a zip with native libraries of Android
	Generic Kind = "generic"
)

// InvalidError is why a file is no package.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

// Package is the description of a package. Unknown texts are "".
type Package struct {
	Kind         Kind
	Platform     Platform
	Name         string // the app's label; the package name when it has none
	PackageName  string // application id or bundle identifier
	Version      string
	VersionCode  string
	MinOSVersion string // Android: the API level
	TargetOS     string
	Permissions  []string // what it asks for: Android's names, Apple's keys of usage descriptions; nil: not read
	ABIs         []string // sorted
	Debuggable   bool
	Splits       []string // of an archive of APKs or modules of a bundle
	Tool         string   // that built it, with its version, such as bundletool's
	Icon         []byte   // PNG, square, at most IconSize pixels; nil: none could be read
	Signer       *Signer
	Provisioning *Provisioning
	Simulator    bool     // an app of Apple for the simulator of a Mac
	Images       []Image  // Apple: the architectures of the main executable
	HasSDK       bool     // contains a library or framework of Input.Vendor
	Warnings     []string // what could not be read, in words for people
	// NotApp is why a file of the kind Generic or Native is no app.
	NotApp string
}

// IconSize is the side of stored icons in pixels: twice what pages show.
const IconSize = 256

// Verdict is what is known of a signature.
type Verdict string

// The verdicts.
const (
	Pending   Verdict = "pending"   // it is being verified
	Verified  Verdict = "verified"  // devices accept it
	Failed    Verdict = "failed"    // devices refuse it
	Unsigned  Verdict = "unsigned"  // there is none
	Unchecked Verdict = "unchecked" // it could not be verified
)

// Verification is whether a signature holds. Verified is null while that is pending,
// and when it could not be checked.
type Verification struct {
	Verified     *bool   `json:"verified"`
	Verdict      Verdict `json:"verification"`
	FailedScheme string  `json:"failed_scheme"` // of an Android package: v1, v2, v3 or v3.1
	Reason       string  `json:"reason"`        // why it failed or was not checked; for people
	// Tampered: the bytes are not those that were signed, so that no device installs
	// them.
	Tampered bool `json:"tampered"`
}

// NewVerification returns a verification that has ended.
func NewVerification(verdict Verdict, reason string) Verification {
	v := Verification{Verdict: verdict, Reason: reason}
	if verdict != Pending && verdict != Unchecked {
		holds := verdict == Verified
		v.Verified = &holds
	}
	return v
}

// Signer is who signed an Android package.
type Signer struct {
	Verification
	Scheme  string    `json:"scheme"` // highest of v1, v2, v3, v3.1 that is present; "" when there is none
	Schemes []string  `json:"schemes"`
	SHA256  string    `json:"sha256"` // of the certificate, lower-case hex
	Subject string    `json:"subject"`
	Expires time.Time `json:"expires"`
}

// With returns the signer with a verification; nil for nil.
func (s *Signer) With(v Verification) *Signer {
	if s == nil {
		return nil
	}
	with := *s
	with.Verification = v
	return &with
}

// With returns the profile with a verification; nil for nil.
func (p *Provisioning) With(v Verification) *Provisioning {
	if p == nil {
		return nil
	}
	with := *p
	with.Verification = v
	return &with
}

// Provisioning is the embedded profile of an Apple package.
type Provisioning struct {
	Verification
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

	// Part is called before a part of a package is read that the package can do without,
	// with what is known so far. The part is left out when it returns false. nil: all parts
	// are read.
	Part func(part Part, known *Package) bool
}

// Begin reports whether a part is to be read.
func (in Input) Begin(part Part, known *Package) bool { return in.Part == nil || in.Part(part, known) }

// Part is a part of a package that is read after its identity.
type Part string

// The parts, as warnings name them.
const (
	PartResources  Part = "The resources"
	PartSigner     Part = "The signature"
	PartProfile    Part = "The provisioning profile"
	PartExecutable Part = "The executable"
	PartIcon       Part = "The icon"
)

// Unread is the warning of a part that could not be read.
func (p Part) Unread(reason string) string { return string(p) + " cannot be read: " + reason }
