package upload

import "strings"

// The canonical names of parts.
const (
	fieldKey         = "api_key"
	fieldFile        = "file"
	fieldSymbols     = "symbols_file"
	fieldUploadID    = "upload_id" // of a file that came in parts, in place of file
	fieldGroups      = "groups"
	fieldNotify      = "notify"
	fieldAutoUpdate  = "auto_update"
	fieldNotes       = "release_notes"
	fieldToken       = "community_token"
	fieldSlug        = "landing_page_slug"
	fieldMode        = "landing_page_mode"
	fieldTeam        = "team_id"
	fieldProject     = "project_id"
	fieldFolder      = "folder_name"
	fieldVersion     = "version"
	fieldVersionCode = "version_code"
	fieldAppName     = "app_name"
	fieldDescription = "app_description"
	fieldTags        = "tags"
	fieldPlatform    = "platform"
	fieldOptions     = "options"
	fieldMetadata    = "metadata" // with a key behind it
	fieldSync        = "sync"     // with any vendor's name behind it

	fieldSymbolsUploadID = "symbols_upload_id" // in place of symbols_file
)

// alias is a canonical name of a part and what older clients call it.
type alias struct {
	name string
	also []string // spellings of older clients, by precedence
	list bool     // several parts of the name are one comma list
}

var aliases = []alias{
	{name: fieldKey},
	{name: fieldFile, also: []string{"apk_file"}},
	{name: fieldSymbols, also: []string{"proguard_file", "symbols_mapping_file", "dsym"}},
	{name: fieldUploadID},
	{name: fieldSymbolsUploadID},
	{name: fieldGroups, list: true,
		also: []string{"testers_groups", "testers-groups", "tester_groups", "invitation_groups"}},
	{name: fieldNotify, also: []string{"notify_testers"}},
	{name: fieldAutoUpdate, also: []string{"auto-update"}},
	{name: fieldNotes, also: []string{"comment", "changelog"}},
	{name: fieldToken},
	{name: fieldSlug},
	{name: fieldMode},
	{name: fieldTeam},
	{name: fieldProject},
	{name: fieldFolder, also: []string{"folder"}},
	{name: fieldVersion, also: []string{"app_version"}},
	{name: fieldVersionCode},
	{name: fieldAppName},
	{name: fieldDescription},
	{name: fieldTags, list: true},
	{name: fieldPlatform},
	{name: fieldOptions, list: true},
}

// openNames are names that only begin as written here.
var openNames = []struct{ prefix, name string }{
	{"metadata.", fieldMetadata}, {"metadata_", fieldMetadata},
	{"upload_to_", fieldSync}, {"sync_to_", fieldSync},
}

// spelling is what the name of a part means.
type spelling struct {
	name string // canonical; "" for a name that means nothing here
	rank int    // 0: the canonical name itself, which wins over the others
	list bool
	rest string // of an open name
}

var spellings = func() map[string]spelling {
	all := map[string]spelling{}
	for _, a := range aliases {
		all[a.name] = spelling{name: a.name, list: a.list}
		for i, other := range a.also {
			all[other] = spelling{name: a.name, rank: i + 1, list: a.list}
		}
	}
	return all
}()

// spell returns what a part's name means. "groups[]" is groups.
func spell(name string) spelling {
	if s, ok := spellings[strings.TrimSuffix(name, "[]")]; ok {
		return s
	}
	for _, open := range openNames {
		if rest, ok := strings.CutPrefix(name, open.prefix); ok && rest != "" {
			return spelling{name: open.name, rest: rest}
		}
	}
	return spelling{}
}
