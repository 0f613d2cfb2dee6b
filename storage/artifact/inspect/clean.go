package inspect

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
)

// What is kept of a package, in characters and in items. Names are bounded by the
// database; the rest is far above what packages have.
const (
	nameLength    = 255
	subjectLength = 1000
	noteLength    = 500
	shortLength   = 64 // architectures, UDIDs, UUIDs

	abiCount        = 32
	splitCount      = 1000
	permissionCount = 500
	noteCount       = 50
	imageCount      = 64
	symbolCount     = 2000
	schemeCount     = 8
	iconBytes       = 1 << 20
	unnamedTitle    = "Unnamed app"
)

// cleanPackage cleans the description of a package so that it can be stored and
// shown.
func cleanPackage(p *artifact.Package, file string) {
	p.Platform, _ = artifact.ParsePlatform(string(p.Platform))
	for _, s := range []*string{&p.Name, &p.PackageName, &p.Version, &p.VersionCode, &p.MinOSVersion, &p.TargetOS, &p.Tool} {
		*s = cleanText(*s, nameLength)
	}
	p.NotApp = cleanText(p.NotApp, noteLength)
	for _, name := range []string{p.PackageName, cleanText(fileTitle(file), nameLength), unnamedTitle} {
		if p.Name == "" {
			p.Name = name
		}
	}
	p.ABIs = cleanList(p.ABIs, abiCount, shortLength)
	if p.Permissions != nil {
		p.Permissions = cleanList(p.Permissions, permissionCount, nameLength)
	}
	p.Splits = cleanList(p.Splits, splitCount, nameLength)
	p.Warnings = cleanList(p.Warnings, noteCount, noteLength)
	p.Images = cleanImages(p.Images, imageCount)
	if len(p.Icon) > iconBytes {
		p.Icon = nil
	}
	if s := p.Signer; s != nil {
		s.Scheme = cleanText(s.Scheme, shortLength)
		s.Schemes = cleanList(s.Schemes, schemeCount, shortLength)
		s.SHA256 = cleanText(s.SHA256, shortLength)
		s.Subject = cleanText(s.Subject, subjectLength)
		s.Expires = jsonTime(s.Expires)
	}
	if v := p.Provisioning; v != nil {
		v.Name = cleanText(v.Name, nameLength)
		v.UUID = cleanText(v.UUID, shortLength)
		v.Team = cleanText(v.Team, shortLength)
		v.TeamName = cleanText(v.TeamName, nameLength)
		v.Type = cleanText(v.Type, shortLength)
		v.Expires = jsonTime(v.Expires)
		v.Devices = cleanList(v.Devices, apple.MaxDevices, shortLength)
	}
}

// cleanSymbols cleans the description of a symbols file likewise.
func cleanSymbols(s *artifact.Symbols) {
	s.Images = cleanImages(s.Images, symbolCount)
	s.MapID = cleanText(s.MapID, nameLength)
	s.MapHash = cleanText(s.MapHash, nameLength)
	s.Tool = cleanText(s.Tool, nameLength)
	s.Notes = cleanList(s.Notes, noteCount, noteLength)
}

func cleanImages(all []artifact.Image, count int) []artifact.Image {
	kept := make([]artifact.Image, 0, min(len(all), count))
	for _, i := range all {
		if len(kept) == count {
			break
		}
		kept = append(kept, artifact.Image{Name: cleanText(i.Name, nameLength), Arch: cleanText(i.Arch, shortLength),
			UUID: cleanText(i.UUID, shortLength)})
	}
	return kept
}

// cleanList cleans the texts of a list and removes the empty ones.
func cleanList(all []string, count, length int) []string {
	kept := make([]string, 0, min(len(all), count))
	for _, s := range all {
		if len(kept) == count {
			break
		}
		if s = cleanText(s, length); s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// cleanText returns a text as valid UTF-8 on one line, of at most limit characters.
// Characters that change the direction of writing are removed: they can make a name
// look like another. The result shares no memory with the package.
func cleanText(s string, limit int) string {
	var b strings.Builder
	n := 0
	for len(s) > 0 && n < limit {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			r = ' '
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff':
			continue
		}
		if r == ' ' && b.Len() == 0 {
			continue
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimRight(b.String(), " ")
}

// jsonTime returns the zero time for times that JSON cannot represent.
func jsonTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
