package inspect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
)

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                             "plain",
		"  both ends \n":                    "both ends",
		"a\x00b\x07c\x7fd\u0085e":           "abcd e",
		"two\r\nlines":                      "two  lines",
		"\xff\xfebroken":                    "\ufffd\ufffdbroken",
		"\u202egpj.exe\u202c":               "gpj.exe",
		"\ufeffmark":                        "mark",
		"family \U0001f468\u200d\U0001f469": "family \U0001f468\u200d\U0001f469",
		strings.Repeat("日", 300):            strings.Repeat("日", 255),
		"\x00\n \t":                         "",
	} {
		require.Equal(t, want, cleanText(in, nameLength), "%q", in)
	}
}

// hostile is a package of which every text and list is too long and dirty.
func hostile() *artifact.Package {
	dirty := strings.Repeat("x\x00\xff\n", 5000)
	many := make([]string, 20_000)
	images := make([]artifact.Image, 5000)
	for i := range many {
		many[i] = fmt.Sprint(dirty[:20], i)
	}
	for i := range images {
		images[i] = artifact.Image{Name: dirty, Arch: dirty, UUID: dirty}
	}
	far := time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC)
	return &artifact.Package{Kind: artifact.IPA, Platform: artifact.Platform(dirty), Name: dirty, PackageName: dirty,
		Version: dirty, VersionCode: dirty,
		MinOSVersion: dirty, TargetOS: dirty, Permissions: many, ABIs: many, Splits: many, Tool: dirty,
		Icon: make([]byte, iconBytes+1), Images: images, Warnings: many,
		Signer:       &artifact.Signer{Scheme: dirty, Schemes: many, SHA256: dirty, Subject: dirty, Expires: far},
		Provisioning: &artifact.Provisioning{Name: dirty, UUID: dirty, Team: dirty, TeamName: dirty, Type: dirty, Expires: far, Devices: many}}
}

func TestCleanPackage(t *testing.T) {
	t.Parallel()
	p := hostile()
	cleanPackage(p, "file.ipa")
	for _, s := range []string{string(p.Platform), p.Name, p.PackageName, p.Version, p.VersionCode, p.MinOSVersion, p.TargetOS, p.Tool,
		p.Provisioning.Name, p.Provisioning.TeamName} {
		require.LessOrEqual(t, utf8.RuneCountInString(s), nameLength)
		require.True(t, utf8.ValidString(s))
		require.Equal(t, -1, strings.IndexFunc(s, unicode.IsControl))
	}
	for _, l := range [][]int{{len(p.ABIs), abiCount}, {len(p.Splits), splitCount}, {len(p.Warnings), noteCount}, {len(p.Images), imageCount},
		{len(p.Signer.Schemes), schemeCount}, {len(p.Provisioning.Devices), apple.MaxDevices}} {
		require.Equal(t, l[1], l[0])
	}
	require.Nil(t, p.Icon)
	require.True(t, p.Signer.Expires.IsZero())
	require.True(t, p.Provisioning.Expires.IsZero())
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.Less(t, len(raw), 2<<20)
	require.NotContains(t, string(raw), `\u0000`)
}

func TestCleanNames(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"App", "com.example", "file.apk", "App"},
		{" \x00", "com.example", "file.apk", "com.example"},
		{"", "", "file.apk", "file"},
		{"", "", "", unnamedTitle},
	} {
		p := &artifact.Package{Name: c[0], PackageName: c[1]}
		cleanPackage(p, c[2])
		require.Equal(t, c[3], p.Name)
		require.Equal(t, []string{}, p.ABIs)
	}
}

func TestCleanSymbols(t *testing.T) {
	t.Parallel()
	p := hostile()
	s := &artifact.Symbols{Kind: artifact.DSYM, Images: p.Images, MapID: p.Name, MapHash: p.Name, Tool: p.Name, Notes: p.Warnings}
	cleanSymbols(s)
	require.Len(t, s.Images, symbolCount)
	require.Len(t, s.Notes, noteCount)
	for _, text := range []string{s.MapID, s.MapHash, s.Tool} {
		require.LessOrEqual(t, utf8.RuneCountInString(text), nameLength)
		require.True(t, utf8.ValidString(text))
		require.Equal(t, -1, strings.IndexFunc(text, unicode.IsControl))
	}
}
