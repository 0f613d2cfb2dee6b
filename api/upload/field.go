package upload

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

const (
	// maxNames bounds the groups of one upload; people use a handful.
	maxNames = 200
	// maxListed is how many tags are looked at, of which the store takes the first.
	maxListed = 1000
	// maxMetadataKey bounds a metadata key in bytes, maxMetadata how many are looked at.
	maxMetadataKey, maxMetadata = 255, 1000
	// The lengths of a landing page's name in characters. For a community_token
	// clients know only the least; the most keeps the address of its page short.
	minSlug, maxSlug, maxToken = 6, 63, 255
)

// fields are the text parts of a form by their canonical names. A part with an
// empty text is one that was not given.
type fields struct {
	spell    func(name string) spelling // nil: that of builds
	values   map[string]value
	metadata map[string]string
	sync     []string // the values of upload_to_* and sync_to_*

	longKeys, manyKeys []string // of metadata that was left out
	dirty              []string // names of parts that held more than text
	warnings           []string
}

type value struct {
	text string
	rank int
}

// add adds a text part. Of several spellings the one of the lowest rank counts.
func (f *fields) add(name, text string) {
	meaning := f.spell
	if meaning == nil {
		meaning = spell
	}
	s, cleaned := meaning(name), clean(text)
	trimmed := strings.TrimSpace(cleaned)
	if s.name != "" && cleaned != text && optional(s.name) && len(f.dirty) < maxListed {
		f.dirty = append(f.dirty, cmp.Or(clean(name), s.name))
	}
	if s.name == "" || trimmed == "" {
		return
	}
	switch s.name {
	case fieldMetadata:
		f.addMetadata(clean(s.rest), trimmed)
		return
	case fieldSync:
		f.sync = append(f.sync, trimmed)
		return
	}
	if f.values == nil {
		f.values = map[string]value{}
	}
	old, given := f.values[s.name]
	switch {
	case given && s.list:
		trimmed = old.text + "," + trimmed
	case given && old.rank <= s.rank:
		return
	}
	f.values[s.name] = value{trimmed, s.rank}
}

// addMetadata keeps a key that can be one; the others are named in a warning.
func (f *fields) addMetadata(key, value string) {
	if f.metadata == nil {
		f.metadata = map[string]string{}
	}
	_, known := f.metadata[key]
	switch {
	case key == "":
	case len(key) > maxMetadataKey:
		if len(f.longKeys) < maxListed {
			f.longKeys = append(f.longKeys, storage.Cut(key, maxMetadataKey))
		}
	case !known && len(f.metadata) == maxMetadata:
		if len(f.manyKeys) < maxListed {
			f.manyKeys = append(f.manyKeys, key)
		}
	default:
		f.metadata[key] = value
	}
}

// optional reports whether a build is worth more than the part: then one that is too long
// is shortened or left out.
func optional(name string) bool {
	switch name {
	case fieldNotes, fieldFolder, fieldVersion, fieldVersionCode, fieldAppName, fieldDescription, fieldTags, fieldOptions, fieldMetadata:
		return true
	}
	return false
}

// warned are the warnings about texts that were not taken as they came.
func (f *fields) warned() []string {
	all := f.warnings
	if len(f.longKeys) > 0 {
		all = append(all, "metadata: keys of more than "+strconv.Itoa(maxMetadataKey)+" bytes were left out: "+text.NameSome(f.longKeys))
	}
	if len(f.manyKeys) > 0 {
		all = append(all, "metadata: keys beyond the first "+strconv.Itoa(maxMetadata)+" were left out: "+text.NameSome(f.manyKeys))
	}
	if len(f.dirty) > 0 {
		all = append(all, "control characters, or bytes that are no UTF-8, were left out of: "+text.NameSome(f.dirty))
	}
	return all
}

func (f *fields) text(name string) string { return f.values[name].text }

// optional returns nil for a text that was not given.
func (f *fields) optional(name string) *string {
	v, ok := f.values[name]
	if !ok {
		return nil
	}
	return &v.text
}

// list splits a comma list; names that differ by case only stay apart. more is true when
// there are more than most.
func (f *fields) list(name string, most int) (names []string, more bool) {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(f.text(name), ",") {
		part = strings.TrimSpace(part)
		if part == "" || seen[part] {
			continue
		}
		if len(names) == most {
			return names, true
		}
		seen[part] = true
		names = append(names, part)
	}
	return names, false
}

var switches = map[string]bool{"on": true, "1": true, "true": true, "off": false, "0": false, "false": false}

func onOff(name, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	on, ok := switches[strings.ToLower(text)]
	if !ok {
		return false, invalid(name, "must be on or off")
	}
	return on, nil
}

// id parses an id; 0 when it was not given. A slug may follow the digits.
func (f *fields) id(name string) (int64, error) {
	text := f.text(name)
	if text == "" {
		return 0, nil
	}
	digits, _, _ := strings.Cut(text, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 {
		return 0, invalid(name, "must be an id")
	}
	return n, nil
}

func invalid(field, msg string) error { return &storage.InvalidError{Field: field, Msg: msg} }

// params are the parsed text parts.
type params struct {
	upload       distribution.Upload // without package, files and writer
	notify, sync bool
	platform     artifact.Platform // of a generic file; ignored for an app
	version      string
	versionCode  string
}

// bind parses the text parts by the rules of the interface.
func (f *fields) bind(of respond.Interface) (*params, error) {
	r := &params{version: f.text(fieldVersion), versionCode: f.text(fieldVersionCode)}
	u := &r.upload
	u.AppName, u.ReleaseNotes, u.Options = f.text(fieldAppName), f.text(fieldNotes), f.text(fieldOptions)
	u.Description, u.Folder, u.Metadata = f.optional(fieldDescription), f.optional(fieldFolder), f.metadata
	u.Via, u.TeamRequired = "upload", false
	if of == respond.InterfaceV3 {
		u.Via, u.TeamRequired = "v3", true
	}
	for _, read := range []func(*params, respond.Interface) error{f.target, f.switches, f.page, f.names} {
		if err := read(r, of); err != nil {
			return nil, err
		}
	}
	u.Warnings = f.warned()
	return r, nil
}

func (f *fields) target(r *params, _ respond.Interface) (err error) {
	if r.upload.ProjectID, err = f.id(fieldProject); err != nil || r.upload.ProjectID != 0 {
		return err
	}
	r.upload.TeamID, err = f.id(fieldTeam)
	return err
}

func (f *fields) switches(r *params, _ respond.Interface) (err error) {
	if r.notify, err = onOff(fieldNotify, f.text(fieldNotify)); err != nil {
		return err
	}
	if r.upload.AutoUpdate, err = onOff(fieldAutoUpdate, f.text(fieldAutoUpdate)); err != nil {
		return err
	}
	for _, text := range f.sync {
		on, err := onOff("sync_to_*", text)
		if err != nil {
			return err
		}
		r.sync = r.sync || on
	}
	var ok bool
	if r.platform, ok = artifact.ParsePlatform(f.text(fieldPlatform)); !ok {
		return problemKind("platform: " + artifact.PlatformRule)
	}
	return nil
}

func (f *fields) page(r *params, _ respond.Interface) error {
	mode := strings.ToLower(f.text(fieldMode))
	if mode != "" && mode != landing.Open && mode != landing.Closed {
		return problemMode()
	}
	r.upload.LandingPageMode = mode
	if slug := f.text(fieldSlug); slug != "" {
		r.upload.Slug = slug
		return checkSlug(slug)
	}
	r.upload.Slug = f.text(fieldToken)
	return checkToken(r.upload.Slug)
}

// checkSlug checks the alias of a landing page by the rule of version 3.
func checkSlug(slug string) error {
	const separators = "._-"
	switch {
	case len(slug) < minSlug || len(slug) > maxSlug:
		return invalid(fieldSlug, "must have 6 to 63 characters")
	case strings.Trim(slug, alphanumeric+separators) != "":
		return invalid(fieldSlug, "may hold letters, digits, dots, hyphens and underscores")
	case strings.Trim(slug, separators) != slug:
		return invalid(fieldSlug, "must not start or end with a separator")
	}
	return nil
}

// checkToken checks community_token by the looser rule of version 1.
func checkToken(token string) error {
	switch {
	case token == "":
	case len(token) < minSlug || len(token) > maxToken:
		return invalid(fieldToken, "must have at least 6 characters")
	case strings.Trim(token, alphanumeric+".-") != "" || strings.Trim(token, ".-") == "":
		return invalid(fieldToken, "may hold letters, digits, dots and hyphens")
	}
	return nil
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (f *fields) names(r *params, of respond.Interface) (err error) {
	var more bool
	if r.upload.Tags, more = f.list(fieldTags, maxListed); more {
		f.warnings = append(f.warnings, "tags: those beyond the first "+strconv.Itoa(maxListed)+" were left out")
	}
	names, more := f.list(fieldGroups, maxNames)
	switch {
	case more:
		return invalid(fieldGroups, "has more than "+strconv.Itoa(maxNames)+" names")
	case len(names) == 0:
		return nil
	}
	groups := grant.Groups{Given: true}
	none := false
	for _, name := range names {
		switch strings.ToLower(name) {
		case "all":
			groups.All = true
		case "none":
			none = true
		default:
			groups.Names = append(groups.Names, name)
		}
	}
	if of == respond.InterfaceV3 {
		r.upload.ProjectGroups = groups // replaces, "none" with nothing
		return nil
	}
	if none && len(groups.Names) == 0 && !groups.All {
		return nil // version 1 adds: there is nothing to add
	}
	r.upload.BuildGroups = groups
	return nil
}
