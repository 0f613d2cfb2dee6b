package distribution

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
)

// Code names a reason why devices may refuse a build.
type Code string

// The codes of cautions.
const (
	CautionUnsigned        Code = "unsigned"
	CautionSignature       Code = "signature_failed"
	CautionNoProfile       Code = "no_profile"
	CautionStoreProfile    Code = "app_store_profile"
	CautionExpires         Code = "expires"
	CautionHTTPOnly        Code = "http_only"
	CautionSimulator       Code = "simulator"
	CautionSignerChanged   Code = "signer_changed"
	CautionVersionNotAbove Code = "version_not_above"
)

// Caution is a reason why devices may refuse a build, though testers get it.
type Caution struct {
	Code Code
	Text string // for people
}

// expirySoon is how long before the end of a profile people hear of it: a release
// takes that long to be replaced.
const expirySoon = 30 * 24 * time.Hour

// Cautions are the rules by which an upload's answer, the build and its install page
// say what devices will refuse. secure: the installation's public URL is https.
func (b *Build) Cautions(now time.Time, secure bool) []Caution {
	var list []Caution
	add := func(code Code, text string) { list = append(list, Caution{code, text}) }
	if b.Simulator {
		add(CautionSimulator, "This app is for the simulator of a Mac: no device installs it.")
		return append(list, b.compared()...)
	}
	switch b.Kind {
	case artifact.APK:
		v := b.Signature()
		switch {
		case v.Verdict == artifact.Unsigned, b.Signer == nil && !b.signatureUnread():
			add(CautionUnsigned, "No signature was found in this package. Android refuses packages that are not signed.")
		case v.Verdict == artifact.Failed:
			add(CautionSignature, "The signature of this package does not hold: "+v.Reason+".")
		}
	case artifact.IPA:
		b.appleCautions(now, secure, add)
	}
	return append(list, b.compared()...)
}

// signatureUnread reports whether there is a signature that the inspection could not
// read, as its warning says.
func (b *Build) signatureUnread() bool {
	return slices.ContainsFunc(b.Warnings, func(w string) bool { return strings.HasPrefix(w, "The signature cannot be read") })
}

func (b *Build) appleCautions(now time.Time, secure bool, add func(Code, string)) {
	p := b.Provisioning
	if p == nil {
		add(CautionNoProfile,
			"No provisioning profile was found in this package. Devices refuse builds for the simulator and builds that are not signed.")
	} else {
		if p.Type == "app-store" {
			add(CautionStoreProfile, "This build is made for the App Store: its provisioning profile lets only Apple hand it out.")
		}
		if p.Verdict == artifact.Failed {
			add(CautionSignature, "The signature of this app does not hold: "+p.Reason+".")
		}
		if left := p.Expires.Sub(now); !p.Expires.IsZero() && left < expirySoon {
			add(CautionExpires, expiry(left))
		}
	}
	if !secure && b.Platform == artifact.IOS {
		add(CautionHTTPOnly, "Installing on iPhone and iPad needs https, and the public URL of this server is http.")
	}
}

func expiry(left time.Duration) string {
	switch days := int(left / (24 * time.Hour)); {
	case left <= 0:
		return "The provisioning profile has expired."
	case days == 0:
		return "The provisioning profile expires within a day."
	case days == 1:
		return "The provisioning profile expires in 1 day."
	default:
		return fmt.Sprintf("The provisioning profile expires in %d days.", days)
	}
}

// compared are the cautions that the upload found.
func (b *Build) compared() []Caution {
	var list []Caution
	for _, code := range b.Comparison {
		switch code {
		case CautionSignerChanged:
			list = append(list, Caution{code,
				"The signer is not that of the build before. Devices that have that one refuse this one as its update, unless the key was rotated."})
		case CautionVersionNotAbove:
			list = append(list, Caution{code,
				"The version is not above that of the build before. Devices may refuse it as an update, and auto-update does not offer it."})
		}
	}
	return list
}

// Notes are the build's warnings, further ones, and the texts of its cautions.
func (b *Build) Notes(now time.Time, secure bool, further ...string) []string {
	list := append(append([]string{}, b.Warnings...), further...)
	for _, c := range b.Cautions(now, secure) {
		list = append(list, c.Text)
	}
	return list
}

// buildBefore reads the index builds_project.
const buildBefore = `
select coalesce(signer ->> 'sha256', '') as signer, coalesce(provisioning ->> 'team', '') as team, version, version_code
from builds where ` + ofProject + ` and state <> 'invalid'` + NewestFirst + ` limit 1`

// compare returns what is noticeable about a build beside the one before it.
func (n *draft) compare(ctx context.Context, tx *storage.Tx, p *projectRow) ([]string, error) {
	var before []struct {
		Signer      string `db:"signer"`
		Team        string `db:"team"`
		Version     string `db:"version"`
		VersionCode string `db:"version_code"`
	}
	if err := tx.SelectContext(ctx, &before, buildBefore, p.ID); err != nil {
		return nil, storage.Wrap(err, "read the build before")
	}
	found := []string{}
	if len(before) == 0 {
		return found, nil
	}
	last, pkg := before[0], n.upload.Package
	signed := pkg.Signer != nil && last.Signer != "" && pkg.Signer.SHA256 != last.Signer
	if signed || pkg.Provisioning != nil && last.Team != "" && pkg.Provisioning.Team != last.Team {
		found = append(found, string(CautionSignerChanged))
	}
	if pkg.Kind != artifact.Generic && notAbove(pkg.Kind, n.version, n.versionCode, last.Version, last.VersionCode) {
		found = append(found, string(CautionVersionNotAbove))
	}
	return found, nil
}

// notAbove reports whether devices would take a version for one that is not newer.
// Android compares version codes, Apple's systems versions and then codes. What
// is no number is not compared.
func notAbove(kind artifact.Kind, version, code, lastVersion, lastCode string) bool {
	if kind == artifact.IPA {
		order, ok := CompareCodes(version, lastVersion)
		if !ok || order != 0 {
			return ok && order < 0
		}
	}
	order, ok := CompareCodes(code, lastCode)
	return ok && order <= 0
}

// codes reads stored codes.
func codes(list pq.StringArray) []Code {
	found := make([]Code, 0, len(list))
	for _, c := range list {
		found = append(found, Code(c))
	}
	return found
}
