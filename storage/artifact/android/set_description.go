package android

import (
	"encoding/json"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// maxDescription bounds a description; real ones have some kilobytes, mostly
// permissions.
const maxDescription = 1 << 20

// description is the description of an archive of APKs. It replaces a base APK that
// cannot be read; otherwise only base is used.
type description struct {
	name, packageName, version, code, minimum, target string

	base string // the entry of the base APK
}

// readDescription reads manifest.json (XAPK) or info.json (APKM); an archive
// with neither is no error.
func (s *set) readDescription() error {
	parse := parseXAPK
	raw, err := s.file("manifest.json", maxDescription)
	if raw == nil && err == nil {
		parse = parseAPKM
		raw, err = s.file("info.json", maxDescription)
	}
	if raw == nil {
		return err
	}
	s.description, err = parse(raw)
	return err
}

// parseXAPK reads the manifest.json of an XAPK. Numbers may be texts there.
func parseXAPK(raw []byte) (description, error) {
	var m struct {
		Name    string       `json:"name"`
		Package string       `json:"package_name"`
		Version textOrNumber `json:"version_name"`
		Code    textOrNumber `json:"version_code"`
		Minimum textOrNumber `json:"min_sdk_version"`
		Target  textOrNumber `json:"target_sdk_version"`
		Splits  []splitFile  `json:"split_apks"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return description{}, errDescription
	}
	a := description{
		name: clean(m.Name), packageName: clean(m.Package), version: m.Version.text(), code: m.Code.text(),
		minimum: m.Minimum.text(), target: m.Target.text(),
	}
	for _, part := range m.Splits {
		if part.ID == "base" {
			a.base = part.File
		}
	}
	if a.base == "" && a.packageName != "" {
		a.base = a.packageName + ".apk" // where there are no splits
	}
	return a, nil
}

type splitFile struct {
	ID   string `json:"id"`
	File string `json:"file"`
}

// parseAPKM reads the info.json of an APKM.
func parseAPKM(raw []byte) (description, error) {
	var m struct {
		Name    string       `json:"app_name"`
		Package string       `json:"pname"`
		Version textOrNumber `json:"release_version"`
		Code    textOrNumber `json:"versioncode"`
		Minimum textOrNumber `json:"min_api"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return description{}, errDescription
	}
	return description{
		name: clean(m.Name), packageName: clean(m.Package), version: m.Version.text(), code: m.Code.text(),
		minimum: m.Minimum.text(), base: "base.apk",
	}, nil
}

// errDescription replaces the error of the JSON decoder, which quotes its input and
// must not be shown.
var errDescription = &artifact.InvalidError{Reason: "it is no JSON of the kind expected"}

// textOrNumber is a text or a number.
type textOrNumber string

func (l *textOrNumber) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*l = textOrNumber(text)
		return nil
	}
	if s := string(raw); strings.Trim(s, "0123456789.") == "" {
		*l = textOrNumber(s)
	}
	return nil // anything else is left out
}

func (l textOrNumber) text() string { return clean(string(l)) }

// toPackage is the package as the description has it; nil when there is none.
func (a description) toPackage() *artifact.Package {
	if a.packageName == "" {
		return nil
	}
	p := &artifact.Package{
		Platform: artifact.Android, Name: a.name, PackageName: a.packageName, Version: a.version,
		VersionCode: a.code, MinOSVersion: a.minimum, TargetOS: a.target,
	}
	if p.Name == "" {
		p.Name = p.PackageName
	}
	return p
}
