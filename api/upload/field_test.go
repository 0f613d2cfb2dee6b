package upload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
)

// TestAliases has every name that older clients use.
func TestAliases(t *testing.T) {
	t.Parallel()
	for canonical, also := range map[string]string{
		"file": "apk_file", "symbols_file": "proguard_file symbols_mapping_file dsym",
		"groups": "testers_groups testers-groups tester_groups invitation_groups groups[]",
		"notify": "notify_testers", "auto_update": "auto-update", "release_notes": "comment changelog",
		"community_token": "", "landing_page_slug": "", "landing_page_mode": "", "team_id": "", "project_id": "",
		"folder_name": "folder", "version": "app_version", "version_code": "", "app_name": "", "app_description": "",
		"tags": "tags[]", "platform": "", "options": "", "api_key": "",
	} {
		for _, name := range append(strings.Fields(also), canonical) {
			require.Equal(t, canonical, spell(name).name, name)
		}
	}
	for name, want := range map[string]spelling{
		"metadata.a.b": {name: fieldMetadata, rest: "a.b"}, "metadata_a": {name: fieldMetadata, rest: "a"},
		"upload_to_acme": {name: fieldSync, rest: "acme"}, "sync_to_x": {name: fieldSync, rest: "x"},
		"metadata.": {}, "sync_to_": {}, "apk": {}, "ipa": {}, "video": {}, "": {}, "[]": {}, "sync": {}, "metadata": {},
	} {
		require.Equal(t, want, spell(name), name)
	}
	seen := map[string]bool{}
	for _, a := range aliases {
		for _, name := range append(a.also, a.name) {
			require.False(t, seen[name], "%s stands in two lines", name)
			seen[name] = true
		}
	}
}

func bindOf(of respond.Interface, pairs ...string) (*params, error) {
	var f fields
	for i := 0; i < len(pairs); i += 2 {
		f.add(pairs[i], pairs[i+1])
	}
	return f.bind(of)
}

func TestBind(t *testing.T) {
	t.Parallel()
	legacy, v3 := respond.InterfaceLegacy, respond.InterfaceV3
	r, err := bindOf(legacy, "comment", "second", "release_notes", " first\n", "changelog", "third", "folder", "a/b",
		"app_version", "2", "tags", "a,b", "tags[]", "c, a", "metadata.x", "1", "metadata_x", "2", "auto-update", "TRUE",
		"notify", "On", "notify_testers", "off", "sync_to_a", "off", "upload_to_b", "1", "app_description", "",
		"landing_page_mode", "Closed", "community_token", "my.app-1", "project_id", "", "team_id", "7", "platform", "ANDROID",
		"release_notes\x00", "no", "app_name", "A\x1b[31mpp\x00")
	require.NoError(t, err)
	u := r.upload
	require.Equal(t, "first", u.ReleaseNotes)
	require.Equal(t, "a/b", *u.Folder)
	require.Nil(t, u.Description)
	require.Equal(t, "2", r.version)
	require.Equal(t, []string{"a", "b", "c"}, u.Tags)
	require.Equal(t, map[string]string{"x": "2"}, u.Metadata)
	require.Equal(t, "A[31mpp", u.AppName)
	require.True(t, u.AutoUpdate)
	require.True(t, r.notify)
	require.True(t, r.sync)
	require.Equal(t, [3]any{"closed", "my.app-1", int64(7)}, [3]any{u.LandingPageMode, u.Slug, u.TeamID})
	require.Equal(t, artifact.Android, r.platform)
	require.Equal(t, "upload", u.Via)
	require.False(t, u.TeamRequired)

	r, err = bindOf(v3, "project_id", "19-groupshot", "team_id", "7")
	require.NoError(t, err)
	require.Equal(t, [2]int64{19, 0}, [2]int64{r.upload.ProjectID, r.upload.TeamID})
	require.True(t, r.upload.TeamRequired)

	given := func(all bool, names ...string) grant.Groups {
		return grant.Groups{Given: true, All: all, Names: names}
	}
	for text, want := range map[string]struct{ v1, v3 grant.Groups }{
		"":            {},
		" , ":         {},
		"a, b,a":      {given(false, "a", "b"), given(false, "a", "b")},
		"ALL":         {given(true), given(true)},
		"all,a":       {given(true, "a"), given(true, "a")},
		"none":        {grant.Groups{}, given(false)},
		"none,nobody": {given(false, "nobody"), given(false, "nobody")},
	} {
		r, err := bindOf(legacy, "groups", text)
		require.NoError(t, err)
		require.Equal(t, want.v1, r.upload.BuildGroups, "v1 %q", text)
		require.Zero(t, r.upload.ProjectGroups)
		r, err = bindOf(v3, "groups", text)
		require.NoError(t, err)
		require.Equal(t, want.v3, r.upload.ProjectGroups, "v3 %q", text)
		require.Zero(t, r.upload.BuildGroups)
	}
	for text, ok := range map[string]bool{"a.b-c1": true, "abcde": false, "abc_def": false, "......": false, "-abcde": true,
		strings.Repeat("x", 256): false} {
		_, err := bindOf(legacy, "community_token", text)
		require.Equal(t, ok, err == nil, text)
	}
	for text, ok := range map[string]bool{"abc_de": true, "abcde": false, "-abcdef": false, "abcdef.": false, "abc/def": false,
		strings.Repeat("x", 63): true, strings.Repeat("x", 64): false, "äöüäöü": false} {
		_, err := bindOf(v3, "landing_page_slug", text)
		require.Equal(t, ok, err == nil, text)
	}
}

// FuzzFields: whatever the parts hold, the result keeps the rules.
func FuzzFields(f *testing.F) {
	f.Add("groups", "a,b", "tags[]", "none,\x00")
	f.Add("metadata.\xff", "v", "project_id", "9999999999999999999")
	f.Add("landing_page_slug", "a.b_c-d", "notify", "ON")
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string) {
		for _, of := range []respond.Interface{respond.InterfaceLegacy, respond.InterfaceV3} {
			r, err := bindOf(of, name1, text1, name2, text2)
			if err != nil {
				require.Equal(t, 400, respond.Explain(err).Status)
				continue
			}
			u := r.upload
			require.True(t, u.Slug == "" || checkSlug(u.Slug) == nil || checkToken(u.Slug) == nil)
			require.Contains(t, []string{"", "open", "closed"}, u.LandingPageMode)
			require.True(t, u.ProjectID >= 0 && u.TeamID >= 0 && (u.ProjectID == 0 || u.TeamID == 0))
			for _, text := range append(append([]string{u.AppName, u.ReleaseNotes, u.Options, r.version}, u.Tags...), u.BuildGroups.Names...) {
				require.NotContains(t, text, "\x00")
				require.Equal(t, strings.ToValidUTF8(text, ""), text)
			}
			for key, value := range u.Metadata {
				require.NotEmpty(t, key)
				require.NotEmpty(t, value)
			}
		}
	})
}
