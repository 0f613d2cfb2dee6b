package distribution_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

// A text that is too long is no reason to lose a build.
func TestOptionalTextsAreMadeToFit(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	long := func(n int) string { return strings.Repeat("é", n) }
	many, tags := map[string]string{}, []string{}
	for i := range 103 {
		many[fmt.Sprintf("k%03d", i)], tags = "v", append(tags, fmt.Sprint("t", i))
	}
	for name, row := range map[string]struct {
		change  func(*Upload)
		got     func(*Uploaded) string
		want    string
		warning string
	}{
		"notes": {func(u *Upload) { u.ReleaseNotes = long(64<<10 + 1) }, func(u *Uploaded) string { return u.Build.ReleaseNotes },
			long(64 << 10), "release_notes was shortened to 65536 characters"},
		"control characters": {func(u *Upload) { u.ReleaseNotes = "a\x00b\x1b[31m\r\nc\xff" },
			func(u *Uploaded) string { return u.Build.ReleaseNotes },
			"ab[31m\nc\uFFFD", ""},
		"description": {func(u *Upload) { u.Description = fixture.Ptr("a\x00b") },
			func(u *Uploaded) string { return u.Project.Description }, "ab", ""},
		"app name": {func(u *Upload) { u.AppName = long(256) }, func(u *Uploaded) string { return u.Build.AppName },
			long(255), "app_name was shortened to 255 characters"},
		"lines": {func(u *Upload) { u.AppName = "a\nb" }, func(u *Uploaded) string { return u.Build.AppName }, "a b", ""},
		"version": {func(u *Upload) { u.Package.Version = long(256) }, func(u *Uploaded) string { return u.Build.Version },
			long(255), "version was shortened"},
		"version code": {func(u *Upload) { u.Package.VersionCode = long(256) }, func(u *Uploaded) string { return u.Build.VersionCode },
			long(255), "version_code was shortened"},
		"options": {func(u *Upload) { u.Options = "\x1bvideo" }, func(u *Uploaded) string { return u.Build.Options }, "video", ""},
		"folder": {func(u *Upload) { u.Folder = fixture.Ptr("a /" + long(300)) }, func(u *Uploaded) string { return u.Project.FolderPath },
			"a/" + long(253), "folder_name was shortened to 255 characters"},
		"folder of lines": {func(u *Upload) { u.Folder = fixture.Ptr("a\n/\x00/b") },
			func(u *Uploaded) string { return u.Project.FolderPath }, "a/b", ""},
		"tags": {func(u *Upload) { u.Tags = tags }, func(u *Uploaded) string { return fmt.Sprint(len(u.Build.Tags), " ", u.Build.Tags[99]) },
			"100 t99", "tags: 3 left out, as there may be at most 100"},
		"long tags": {func(u *Upload) { u.Tags = []string{"ci", long(61), long(62), "a\nb"} },
			func(u *Uploaded) string { return strings.Join(u.Build.Tags, " ") },
			"ci " + long(60) + " a b", "tags: 2 shortened to 60 characters"},
		"metadata": {func(u *Upload) { u.Metadata = many }, func(u *Uploaded) string { return fmt.Sprint(len(u.Build.Metadata)) },
			"100", "metadata: keys beyond the first 100 were left out: k100, k101, k102"},
		"metadata keys": {func(u *Upload) { u.Metadata = map[string]string{long(128): "v", "k": "v", long(127): "w"} },
			func(u *Uploaded) string { return u.Build.Metadata["k"] + u.Build.Metadata[long(127)] },
			"vw", "metadata: keys of more than 255 bytes were left out: " + long(60) + "…"},
		"metadata values": {func(u *Upload) { u.Metadata = map[string]string{"k": long(4001)} },
			func(u *Uploaded) string { return u.Build.Metadata["k"] },
			long(4000), "metadata: values were shortened to 4000 characters: k"},
	} {
		t.Run(name, func(t *testing.T) {
			u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
			row.change(&u)
			made, err := f.TryUpload(u)
			require.NoError(t, err)
			got := row.got(made)
			require.True(t, utf8.ValidString(got))
			require.Equal(t, row.want, got)
			if row.warning == "" {
				require.Empty(t, made.Build.Warnings)
				return
			}
			require.Len(t, made.Build.Warnings, 1)
			require.Contains(t, made.Build.Warnings[0], row.warning)
		})
	}
}
