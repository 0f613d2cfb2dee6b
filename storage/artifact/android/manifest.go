package android

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// maxText bounds names and versions, in characters.
const maxText = 255

// readManifest sets what a manifest contains and returns the icons that it names,
// the preferred first. A reference to a missing resource is a warning.
func readManifest(root *element, res resources, p *artifact.Package) (icons []value) {
	m := manifest{res: res, p: p}
	p.Platform = artifact.Android
	p.PackageName = m.text(root, "package")
	p.Version = m.text(root, "versionName")
	p.VersionCode = m.versionCode(root)
	if split := m.text(root, "split"); split != "" {
		p.Splits = []string{split}
	}
	if sdk := root.child("uses-sdk"); sdk != nil {
		p.MinOSVersion = m.text(sdk, "minSdkVersion")
		p.TargetOS = m.text(sdk, "targetSdkVersion")
	}
	p.Permissions = m.permissions(root)
	if app := root.child("application"); app != nil {
		p.Name = m.text(app, "label")
		p.Debuggable = m.resolve(app, "debuggable").boolean()
		for _, name := range []string{"icon", "roundIcon"} {
			if v := app.attr(name); !v.isNone() {
				icons = append(icons, v)
			}
		}
	}
	if p.Name == "" {
		p.Name = p.PackageName
	}
	return icons
}

// manifest resolves attributes and adds a warning for those that cannot be.
type manifest struct {
	res resources
	p   *artifact.Package
}

func (m manifest) resolve(e *element, name string) value {
	raw := e.attr(name)
	v := resolve(m.res, raw)
	if v.isNone() && raw.isReference() {
		m.p.Warnings = append(m.p.Warnings, "The manifest's "+name+" refers to a resource that is not in the package.")
	}
	return v
}

// maxPermissions bounds the permissions of a manifest; real ones have some dozens.
const maxPermissions = 500

// permissions are the names of the permissions that a manifest asks for, each once. A name
// that is not written out is none.
func (m manifest) permissions(root *element) []string {
	names := []string{}
	for _, e := range root.Children {
		if e.Name != "uses-permission" && e.Name != "uses-permission-sdk-23" || len(names) == maxPermissions {
			continue
		}
		if name := clean(e.attr("name").text()); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (m manifest) text(e *element, name string) string {
	return clean(m.resolve(e, name).text())
}

// versionCode joins both halves as Android does: the major one is the upper 32
// bits of one number.
func (m manifest) versionCode(root *element) string {
	code, ok := number(m.resolve(root, "versionCode"))
	if !ok {
		return m.text(root, "versionCode")
	}
	major, _ := number(m.resolve(root, "versionCodeMajor"))
	return strconv.FormatInt(int64(major)<<32|int64(code), 10)
}

func number(v value) (uint32, bool) {
	if v.Type == typeString {
		n, err := strconv.ParseInt(strings.TrimSpace(v.Text), 0, 64)
		return uint32(n), err == nil && n >= 0 && n < 1<<32
	}
	return v.number()
}

// clean returns a text that can be stored and shown: no control characters, such as
// the NUL that PostgreSQL refuses, none that changes the writing direction, and no
// more than maxText characters.
func clean(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s))
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText])
	}
	return s
}
