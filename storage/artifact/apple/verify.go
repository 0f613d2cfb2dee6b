package apple

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/signature"
)

// profileSigner is in the common name of the certificates that Apple signs
// provisioning profiles with; those of developers, which Apple's root vouches for
// too, have other names.
const profileSigner = "Provisioning Profile Signing"

// resourcesName is the list of an app's files with their digests.
const resourcesName = "_CodeSignature/CodeResources"

// maxInflated bounds what Verify inflates of an app: real ones are packed to a half.
const (
	leastInflated = 64 << 20
	inflateRatio  = 8
)

// Verify verifies what an IPA states about itself: that the embedded profile is
// signed and by whom, that it has not ended, that it is for this bundle identifier,
// and that the files are those that the app's code signature lists. Verified is
// the result only where roots are given and one of them vouches for the profile; the
// signature of the executable itself is not verified.
//
// Errors are those of the reader and of ctx.
func Verify(ctx context.Context, a *archive.Archive, size int64, roots *x509.CertPool, now time.Time) (artifact.Verification, error) {
	root, ok := appRoot(a.Entries())
	if !ok {
		return failed("there is no Payload/*.app with an Info.plist"), nil
	}
	a.Bind(ctx)
	b := bundle{ctx: ctx, archive: a, root: root}
	info, err := b.info("Info.plist")
	var invalid *artifact.InvalidError
	switch {
	case errors.As(err, &invalid):
		return failed(invalid.Reason), nil
	case err != nil:
		return artifact.Verification{}, err
	}
	c := check{ctx: ctx, bundle: b, left: max(leastInflated, size*inflateRatio), now: now, roots: roots}
	v := c.profile(info.text("CFBundleIdentifier"))
	if !v.Tampered {
		if found := c.resources(); found.Verdict == artifact.Failed && (found.Tampered || v.Verdict != artifact.Failed) {
			v = found
		}
	}
	if cause := errors.Join(ctx.Err(), a.Err()); cause != nil {
		return artifact.Verification{}, cause
	}
	return v, nil
}

func failed(reason string) artifact.Verification {
	return artifact.NewVerification(artifact.Failed, reason)
}

func tampered(reason string) artifact.Verification {
	v := failed(reason)
	v.Tampered = true
	return v
}

// check is the verification of one app.
type check struct {
	ctx    context.Context
	bundle bundle
	left   int64 // what may still be inflated
	now    time.Time
	roots  *x509.CertPool // nil: none are known
}

func (c *check) profile(bundleID string) artifact.Verification {
	files := c.bundle.find("embedded.mobileprovision")
	if len(files) == 0 {
		return artifact.NewVerification(artifact.Unsigned, "there is no provisioning profile")
	}
	raw, err := c.bundle.archive.Read(files[0], maxPlist)
	if err != nil {
		return failed("the provisioning profile cannot be read")
	}
	envelope, err := signature.OpenEnvelope(raw)
	switch {
	case errors.Is(err, signature.ErrTampered):
		return tampered("the provisioning profile was changed after it was signed")
	case errors.Is(err, signature.ErrUnsigned):
		return failed("nobody signed the provisioning profile")
	case err != nil:
		return artifact.NewVerification(artifact.Unchecked, "the signature of the provisioning profile cannot be verified: "+err.Error())
	}
	d, err := decodePlist(envelope.Content)
	if err != nil {
		return failed("the provisioning profile cannot be read")
	}
	if end := d.date("ExpirationDate"); !end.IsZero() && !end.After(c.now) {
		return failed("the provisioning profile expired on " + end.UTC().Format(time.DateOnly))
	}
	if id := d.dict("Entitlements").firstText("application-identifier", "com.apple.application-identifier"); !fits(id, bundleID) {
		return failed(fmt.Sprintf("the provisioning profile is for %s, and the app is %s", id, bundleID))
	}
	if c.roots == nil {
		return artifact.NewVerification(artifact.Unchecked,
			"the profile's signature holds and fits the app; who signed it was not checked, as no root certificates of Apple are configured")
	}
	if err := envelope.Trusted(c.roots, profileSigner, c.now); err != nil {
		return failed("the provisioning profile: " + err.Error())
	}
	return artifact.NewVerification(artifact.Verified, "")
}

// fits reports whether an application identifier, TEAM.bundle.id with an asterisk
// at its end for any, is for a bundle identifier. A profile without one is for all.
func fits(id, bundleID string) bool {
	_, pattern, found := strings.Cut(id, ".")
	if !found {
		return id == ""
	}
	if prefix, wild := strings.CutSuffix(pattern, "*"); wild {
		return strings.HasPrefix(bundleID, prefix)
	}
	return pattern == bundleID
}

// resources compares the app's files with the digests that its code signature lists
// (the dictionary files2 of CodeResources, SHA-256 in hash2; see "TN3126: Inside Code
// Signing: Hashes"). Files that it does not list are not looked at: some may be
// left out by its rules.
func (c *check) resources() artifact.Verification {
	files := c.bundle.find(resourcesName)
	if len(files) == 0 {
		return failed("the app has no code signature (" + resourcesName + ")")
	}
	raw, err := c.bundle.archive.Read(files[0], maxPlist)
	if err != nil {
		return failed(resourcesName + " cannot be read")
	}
	list, err := decodePlist(raw)
	if err != nil {
		return failed(resourcesName + " cannot be read: " + err.Error())
	}
	entries := map[string]archive.Entry{}
	for _, e := range c.bundle.archive.Entries() {
		if name, ok := strings.CutPrefix(normalizeName(e.Name), c.bundle.root); ok {
			entries[name] = e
		}
	}
	for name, item := range list.dict("files2") {
		want, optional := resourceDigest(item)
		if want == nil {
			continue
		}
		e, ok := entries[name]
		switch {
		case !ok && optional:
			continue
		case !ok:
			return tampered(fmt.Sprintf("the file %.100q was removed after the app was signed", name))
		}
		sum, err := c.digest(e)
		switch {
		case err != nil && c.ctx.Err() == nil && errors.Is(err, archive.ErrTooLarge):
			return artifact.NewVerification(artifact.Unchecked, "the app is too large to be verified")
		case err != nil:
			return tampered(fmt.Sprintf("the file %.100q cannot be unpacked", name))
		case !bytes.Equal(sum, want):
			return tampered(fmt.Sprintf("the file %.100q was changed after the app was signed", name))
		}
	}
	return artifact.NewVerification(artifact.Verified, "")
}

// resourceDigest returns the SHA-256 that a file should have; nil for what is no file.
func resourceDigest(item any) (sum []byte, optional bool) {
	d, ok := item.(map[string]any)
	if !ok {
		return nil, false
	}
	if _, link := d["symlink"]; link {
		return nil, false
	}
	sum, _ = d["hash2"].([]byte)
	return sum, dict(d).flag("optional")
}

func (c *check) digest(e archive.Entry) ([]byte, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	in, err := c.bundle.archive.Open(e, c.left)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	n, err := io.Copy(h, in)
	c.left -= n
	return h.Sum(nil), err
}
