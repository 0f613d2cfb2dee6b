package android

import (
	"encoding/json"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// maxAbout bounds a description; real ones have some kilobytes, mostly permissions.
const maxAbout = 1 << 20

// about is what a description says of an archive of APKs. It is in place of a base
// APK that cannot be read; of one that can, only base counts.
type about struct {
	name, packageName, version, code, minimum, target string

	base string // the entry of the base APK
}

// readAbout reads manifest.json (XAPK) or info.json (APKM); neither is no error.
func (s *set) readAbout() error {
	parse := parseXAPK
	raw, err := s.file("manifest.json", maxAbout)
	if raw == nil && err == nil {
		parse = parseAPKM
		raw, err = s.file("info.json", maxAbout)
	}
	if raw == nil {
		return err
	}
	s.about, err = parse(raw)
	return err
}

// parseXAPK reads the manifest.json of an XAPK. Numbers stand there as texts or as
// numbers.
func parseXAPK(raw []byte) (about, error) {
	var m struct {
		Name    string      `json:"name"`
		Package string      `json:"package_name"`
		Version loose       `json:"version_name"`
		Code    loose       `json:"version_code"`
		Minimum loose       `json:"min_sdk_version"`
		Target  loose       `json:"target_sdk_version"`
		Splits  []splitFile `json:"split_apks"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return about{}, errDescription
	}
	a := about{
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
func parseAPKM(raw []byte) (about, error) {
	var m struct {
		Name    string `json:"app_name"`
		Package string `json:"pname"`
		Version loose  `json:"release_version"`
		Code    loose  `json:"versioncode"`
		Minimum loose  `json:"min_api"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return about{}, errDescription
	}
	return about{
		name: clean(m.Name), packageName: clean(m.Package), version: m.Version.text(), code: m.Code.text(),
		minimum: m.Minimum.text(), base: "base.apk",
	}, nil
}

// errDescription keeps the text of the JSON reader, which quotes its input, away
// from people.
var errDescription = &artifact.InvalidError{Reason: "it is no JSON of the kind expected"}

// loose is a text or a number.
type loose string

func (l *loose) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*l = loose(text)
		return nil
	}
	if s := string(raw); strings.Trim(s, "0123456789.") == "" {
		*l = loose(s)
	}
	return nil // anything else is left out
}

func (l loose) text() string { return clean(string(l)) }

// pkg is the package as the description has it; nil when there is none.
func (a about) pkg() *artifact.Package {
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
