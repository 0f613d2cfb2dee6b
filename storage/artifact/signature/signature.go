// Package signature verifies the signatures of Android packages as Android does.
//
// An APK is signed by any of four schemes. v1 is the signature of JARs: a manifest
// with the digest of each entry, a signature file with digests of the manifest, and
// a PKCS #7 signature of that. v2, v3 and v3.1 sign the whole file but for the
// block in front of the archive's directory that holds them; v3 and v3.1 bind each
// signer to a range of Android versions and may prove that keys were rotated.
//
// Verify decides whether every version of Android from the declared minSdkVersion
// on would accept the package: versions before 7 read v1 only, 7 and 8 prefer v2, 9
// prefers v3, 13 prefers v3.1, and each falls back to the next older scheme only
// where the newer one is absent. A scheme that was stripped is noticed by what the
// older ones state about it.
//
// A package that is refused has a Failure. Tampered is its kind when the bytes do
// not agree with the signature, or the signature with itself: no device installs
// that. It is false when the package is intact but some of the declared versions
// cannot verify it.
//
// The file is read in one pass for all digests of v2 and later, in pieces of one
// MiB; v1 inflates each entry. Everything is bounded (see the constants), and ctx is
// looked at between pieces. Errors are those of the reader or of ctx only.
//
// The formats are described at source.android.com/docs/security/features/apksigning
// and in the JAR file specification; where these are silent, apksigner is followed.
package signature

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// The schemes.
const (
	V1  = "v1"
	V2  = "v2"
	V3  = "v3"
	V31 = "v3.1"
)

// API levels of Android at which the rules change.
const (
	levelJellyBeanMR2 = 18
	levelKitKat       = 19
	levelNougat       = 24
	levelOreo         = 26
	levelPie          = 28
	levelR            = 30
	levelTiramisu     = 33
	levelEnd          = math.MaxInt32
)

// Bounds. Packages have one signer, some ten at the most.
const (
	maxSigners      = 10
	maxRecords      = 32 // signatures, digests, certificates, attributes of a signer
	maxLineage      = 64
	maxBlock        = 4 << 20 // of one scheme; some kilobytes are usual
	maxPairs        = 1000
	maxCertificate  = 64 << 10
	maxJARFile      = 16 << 20 // the manifest, or a signature file
	maxJARBlock     = 1 << 20  // a PKCS #7 file
	leastInflated   = 64 << 20 // what v1 may inflate of any package
	inflateRatio    = 8        // and of a larger one, times its size
	maxModulus      = 16384
	maxAttributes   = 64
	maxSectionNames = archive.MaxEntries
)

// Requirements are what the manifest declares of the platform.
type Requirements struct {
	MinSDK    int // 1 when it declares none
	TargetSDK int // 0 when it declares none
	Sandbox   int // targetSandboxVersion; 0 when it declares none
}

// Result is the outcome of a verification.
type Result struct {
	// Schemes that were verified, of those that some declared version reads.
	Schemes []string
	// Certificates are the SHA-256 of the certificates of those who signed, in
	// lower-case hex: those of the newest verified scheme.
	Certificates []string
	// Certificate is the first of them, in DER.
	Certificate []byte
	// Unsigned: there is no signature of any scheme.
	Unsigned bool
	// Failure is why the package is refused; nil when it is accepted.
	Failure *Failure
}

// Failure is why a package is refused.
type Failure struct {
	Scheme   string // that failed; "" when it is none of them
	Reason   string // for people
	Tampered bool
}

func (f *Failure) Error() string { return f.Scheme + ": " + f.Reason }

// broken is a signature that does not hold.
func broken(scheme, format string, args ...any) error {
	return &Failure{Scheme: scheme, Reason: fmt.Sprintf(format, args...), Tampered: true}
}

// unsupported is a signature that some of the declared versions cannot verify.
func unsupported(scheme, format string, args ...any) error {
	return &Failure{Scheme: scheme, Reason: fmt.Sprintf(format, args...)}
}

// verification is one package that is being verified.
type verification struct {
	ctx       context.Context
	r         io.ReaderAt
	size      int64
	declared  Requirements
	sections  sections
	block     *block // nil: the file has none
	found     map[int]bool
	schemes   map[string][]*signer // verified
	checksums map[contentDigest][]byte
	late      error // the first *Failure of an intact package
}

// Verify verifies an APK of the size. a is the same file, opened.
func Verify(ctx context.Context, r io.ReaderAt, size int64, a *archive.Archive, declared Requirements) (*Result, error) {
	declared.MinSDK = max(declared.MinSDK, 1)
	v := &verification{ctx: ctx, r: r, size: size, declared: declared, found: map[int]bool{},
		schemes: map[string][]*signer{}, checksums: map[contentDigest][]byte{}}
	err := v.verify(a)
	if cause := errors.Join(ctx.Err(), a.Err()); cause != nil {
		return nil, cause
	}
	result := &Result{}
	var failure *Failure
	var invalid *artifact.InvalidError
	switch {
	case errors.As(err, &failure):
		result.Failure = failure
		result.Unsigned = failure.Reason == reasonUnsigned
	case errors.As(err, &invalid):
		result.Failure = &Failure{Reason: invalid.Reason, Tampered: true}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		result.Failure = &Failure{Reason: "the file is cut off", Tampered: true}
	case err != nil:
		return nil, err
	}
	for _, scheme := range []string{V1, V2, V3, V31} {
		signers, ok := v.schemes[scheme]
		if !ok {
			continue
		}
		result.Schemes = append(result.Schemes, scheme)
		result.Certificates = fingerprints(scheme, signers)
		result.Certificate = counting(scheme, signers)[0].certificate.raw
	}
	return result, nil
}

const reasonUnsigned = "the package is not signed"

// verify is Verify by its steps, from the newest scheme to the oldest.
func (v *verification) verify(a *archive.Archive) error {
	var err error
	if v.sections, err = findSections(v.r, v.size); err != nil {
		return err
	}
	if v.block, err = readBlock(v.r, v.sections.directory, v.sections.end); err != nil {
		return err
	}
	for _, step := range []func() error{v.verifyRotated, v.verifyThird, v.verifySecond} {
		if err := step(); err != nil {
			return err
		}
	}
	if v.declared.Sandbox > 1 && len(v.found) == 0 {
		_ = v.later(unsupported(V2, "the manifest has targetSandboxVersion %d, which takes a signature of the scheme v2 or later",
			v.declared.Sandbox))
	}
	if v.declared.MinSDK < levelNougat || len(v.found) == 0 {
		j := &jar{v: v, archive: a}
		before := v.late
		if v.schemes[V1], err = j.verify(); err != nil || v.late != before {
			delete(v.schemes, V1)
		}
		if err != nil {
			return err
		}
	}
	if err := v.compareSigners(); err != nil {
		return err
	}
	if v.declared.TargetSDK >= levelR && len(v.found) == 0 {
		return unsupported(V1, "the package targets Android API level %d, which takes a signature of the scheme v2 or later; it has v1 only",
			v.declared.TargetSDK)
	}
	return v.late
}

// later keeps the failure of an intact package for the end and returns nil: who changes a
// package must not escape by a signature that some versions cannot verify, in front of the
// one that does not hold. Other errors are returned.
func (v *verification) later(err error) error {
	var f *Failure
	if !errors.As(err, &f) || f.Tampered || f.Reason == reasonUnsigned {
		return err
	}
	if v.late == nil {
		v.late = err
	}
	return nil
}

// compareSigners checks that the schemes agree about who signed, since a device may
// update from one to another.
func (v *verification) compareSigners() error {
	first, second, third := v.schemes[V1], v.schemes[V2], v.schemes[V3]
	if len(first) > 0 && len(second) > 0 {
		one, two := fingerprints(V1, first), fingerprints(V2, second)
		slices.Sort(one)
		slices.Sort(two)
		if !slices.Equal(slices.Compact(one), slices.Compact(two)) {
			return broken(V2, "the signatures of the schemes v1 and v2 are of different signers")
		}
	}
	if len(third) == 0 {
		return nil
	}
	oldest := third[len(third)-1].oldest()
	for _, past := range [][]*signer{first, second} {
		if len(past) == 0 {
			continue
		}
		if len(past) > 1 {
			return broken(V3, "the older schemes have several signers, and v3 has one")
		}
		if past[0].certificate.sum() != oldest {
			return broken(V3, "the older schemes are signed by another key than the one that the scheme v3 begins with")
		}
	}
	return nil
}

// counting are those who signed: of the signers of v3, each of which is for other
// versions, the last one.
func counting(scheme string, signers []*signer) []*signer {
	if scheme == V3 || scheme == V31 {
		return signers[len(signers)-1:]
	}
	return signers
}

// fingerprints are the SHA-256 of the certificates of those who signed.
func fingerprints(scheme string, signers []*signer) []string {
	var list []string
	for _, s := range counting(scheme, signers) {
		list = append(list, s.certificate.sum())
	}
	return list
}

func hexSum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
