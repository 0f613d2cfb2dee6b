package parse

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

const (
	aMapping = "# compiler: R8\n# pg_map_id: 7a3f5c1\norg.example.Main -> a.a:\n    void run() -> a\n"
	aMap     = `{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}`
	aScript  = "function a(){}\n//# sourceMappingURL=a.js.map\n"
	aSym     = "MODULE Linux x86_64 6D21C5D1E4A84F5D8B5E0F1A2B3C4D5E0 app\nPUBLIC 1000 0 main\n"
)

func anELF() string {
	h := make([]byte, 64)
	copy(h, "\x7fELF\x02\x01\x01")
	return string(h)
}

func aFat(magic, count uint32) string {
	return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, magic), count))
}

func aPE() string {
	h := make([]byte, 128)
	copy(h, "MZ")
	h[60] = 64
	copy(h[64:], "PE\x00\x00")
	return string(h)
}

type file struct{ name, data string }

func aZip(t testing.TB, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		e, err := w.Create(f.name)
		require.NoError(t, err)
		_, err = io.WriteString(e, f.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func aTar(t testing.TB, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o600, Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, f.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestRecognise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data, name string
		want       filetype.Format
		what       string
	}{
		"mapping":            {aMapping, "x", "proguard", ""},
		"mapping, CRLF, BOM": {"\xef\xbb\xbf" + strings.ReplaceAll(aMapping, "\n", "\r\n"), "x", "proguard", ""},
		"map":                {aMap, "x", "sourcemap", ""},
		"map with prefix":    {")]}'\n" + aMap, "x", "sourcemap", ""},
		"map, BOM, blanks":   {"\xef\xbb\xbf \n" + aMap, "x", "sourcemap", ""},
		"index map":          {`{ "sections" : [], "version": 3 }`, "x", "sourcemap", ""},
		"map with contents": {`{"version":3,"sourcesContent":["` + strings.Repeat(`\"{`, 100000) +
			`"],"sources":["a"],"mappings":""}`, "x", "sourcemap", ""},
		"other JSON":     {`{"name":"x","a":{"mappings":1}}`, "x.map", "other", "no source map"},
		"manifest":       {`{"files":{"a":{"sources":[]}},"version":1}`, "x", "other", "no source map"},
		"script":         {aScript, "x", "source", ""},
		"script by name": {"let a = 1", "dir/X.JS", "source", ""},
		"source of C":    {"int main(void) { return 0; }", "src/main.c", "source", ""},
		"text":           {"hello", "readme.txt", "other", "neither"},
		"Breakpad":       {aSym, "x", "breakpad", ""},
		"ELF":            {anELF(), "x", "elf", ""},
		"Mach-O":         {"\xcf\xfa\xed\xfe....", "x", "macho", ""},
		"fat Mach-O":     {aFat(0xcafebabe, 2), "x", "macho", ""},
		"Java class":     {aFat(0xcafebabe, 52), "x", "other", "Java class"},
		"PE":             {aPE(), "x", "pe", ""},
		"DOS":            {"MZ" + strings.Repeat("\x00", 80), "x", "other", "DOS"},
		"PDB":            {"Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00", "x", "pdb", ""},
		"zip":            {aZip(t), "x", "zip", ""},
		"tar":            {aTar(t, file{"a", "b"}), "x", "tar", ""},
		"gzip":           {gzipped(t, "x"), "x", "gzip", ""},
		"minidump":       {"MDMP\x93\xa7", "x", "other", "format=minidump"},
		"empty":          {"", "x", "other", "empty"},
		"bytes":          {"\x00\x01\x02\xff", "x", "", ""},
		"not UTF-8":      {"abc\xff\xfe\xfd abc", "x.js", "", ""},
		"cut character":  {strings.Repeat("x", filetype.HeadSize-1) + "é" + aScript, "x", "source", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			format, what, err := filetype.Of(strings.NewReader(c.data), int64(len(c.data)), c.name)
			require.NoError(t, err)
			require.Equal(t, c.want, format)
			require.Contains(t, what, c.what)
		})
	}
}

func unpacked(t *testing.T, data string, change func(*UnpackArgs)) *Unpacked {
	t.Helper()
	args := UnpackArgs{Path: filepath.Join(t.TempDir(), "upload"), Folder: t.TempDir(), Name: "upload"}
	require.NoError(t, os.WriteFile(args.Path, []byte(data), 0o600))
	if change != nil {
		change(&args)
	}
	u, err := unpack(context.Background(), args)
	require.NoError(t, err)
	for _, m := range u.Members {
		if m.Broken == nil {
			content, err := os.ReadFile(m.File)
			require.NoError(t, err)
			sum := sha256.Sum256(content)
			require.Equal(t, hex.EncodeToString(sum[:]), m.SHA256)
			require.EqualValues(t, len(content), m.Size)
		}
	}
	return u
}

// shown lists the members as path:format, or path!code.
func shown(u *Unpacked) (all []string) {
	for _, m := range u.Members {
		if m.Broken != nil {
			all = append(all, m.Path+"!"+m.Broken.Code)
			continue
		}
		all = append(all, m.Path+":"+string(m.Format))
	}
	return all
}

func xzipped(t *testing.T, text string) string {
	t.Helper()
	packer, err := exec.LookPath("xz")
	if err != nil {
		t.Skip("xz is not installed")
	}
	run := exec.Command(packer, "-c")
	run.Stdin = strings.NewReader(text)
	out, err := run.Output()
	require.NoError(t, err)
	return string(out)
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	_, err = io.WriteString(z, aSym)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	files := []file{{"mapping.txt", aMapping}, {"js/a.js.map", aMap}, {"js/a.js", aScript}, {"README", "hello"},
		{"__MACOSX/x.map", aMap}, {"js/._a.js", "x"}, {"lib/x86_64/libapp.so", anELF()}}
	all := []string{"mapping.txt:proguard", "js/a.js.map:sourcemap", "js/a.js:source", "lib/x86_64/libapp.so:elf"}
	for name, c := range map[string]struct {
		data    string
		want    []string
		ignored int
		problem string
	}{
		"alone":  {aMapping, []string{":proguard"}, 0, ""},
		"gzip":   {gzipped(t, aMap), []string{":sourcemap"}, 0, ""},
		"zstd":   {packed.String(), []string{":breakpad"}, 0, ""},
		"zip":    {aZip(t, files...), all, 1, ""},
		"tar":    {aTar(t, files...), all, 1, ""},
		"tar.gz": {gzipped(t, aTar(t, files...)), all, 1, ""},
		"bundle": {"SYSB\x02\x00\x00\x00" + aZip(t, files[0]), all[:1], 0, ""},
		"nested": {aZip(t, files[0], file{"in.zip", aZip(t, files...)}), []string{"mapping.txt:proguard", "in.zip!unsupported"}, 0, ""},
		"hostile name": {aZip(t, file{"../../etc/a.map", aMap}, file{"/a.map", aMap}, file{`C:\a.map`, aMap},
			file{"a\x00.map", aMap}, file{"./b//c.map", aMap}), []string{"../../etc/a.map!malformed", "/a.map!malformed",
			"C:/a.map!malformed", "a�.map!malformed", "b/c.map:sourcemap"}, 0, ""},
		"climbing tar": {aTar(t, file{"../a.map", aMap}, file{"b.map", aMap}), []string{"../a.map!malformed", "b.map:sourcemap"}, 0, ""},
		"long name":    {aZip(t, file{strings.Repeat("é", 600) + ".map", aMap}), []string{strings.Repeat("é", 512) + "!malformed"}, 0, ""},
		"the same":     {aZip(t, files[0], files[0]), all[:1], 0, ""},
		"same name": {aZip(t, files[0], file{"mapping.txt", aMapping + "\n"}), []string{"mapping.txt:proguard",
			"mapping.txt!malformed"}, 0, ""},
		"nothing":     {aZip(t, files[3]), nil, 1, "none of the 1 files"},
		"unknown":     {"\x00\x01", nil, 0, "unknown format"},
		"a text":      {"hello", nil, 0, "neither a mapping"},
		"packed text": {gzipped(t, "hello"), nil, 1, "neither a mapping"},
		"cut gzip":    {gzipped(t, aMap)[:30], nil, 0, "compressed data"},
		"cut tar":     {aTar(t, files...)[:1100], []string{"mapping.txt:proguard"}, 0, "cannot be read on"},
		"cut zip":     {aZip(t, files...)[:200], nil, 0, "zip"},
		"broken gzip": {"\x1f\x8b\x00\x00", nil, 0, "cannot be read"},
		"xz":          {xzipped(t, aSym), []string{":breakpad"}, 0, ""},
		"tar.xz":      {xzipped(t, aTar(t, files...)), all, 1, ""},
		"cut xz":      {xzipped(t, aTar(t, files...))[:200], all[:1], 0, "cannot be read on"},
		"broken xz":   {"\xfd7zXZ\x00", nil, 0, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := unpacked(t, c.data, nil)
			require.Equal(t, c.want, shown(u))
			require.Equal(t, c.ignored, u.Ignored)
			if c.problem == "" {
				require.Nil(t, u.Problem)
				return
			}
			require.NotNil(t, u.Problem)
			require.Contains(t, u.Problem.Reason, c.problem)
		})
	}
}

// What the sender says decides where the content does not.
func TestFormatThatIsSaid(t *testing.T) {
	t.Parallel()
	u := unpacked(t, "{}", func(a *UnpackArgs) { a.Format = "sourcemap" })
	require.Equal(t, []string{":sourcemap"}, shown(u))
	u = unpacked(t, gzipped(t, "nothing"), func(a *UnpackArgs) { a.Format = "proguard" })
	require.Equal(t, []string{":proguard"}, shown(u))
	u = unpacked(t, aMap, func(a *UnpackArgs) { a.Format = "proguard" })
	require.Equal(t, []string{":sourcemap"}, shown(u), "content that is clear wins")
}

func TestBombs(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 80<<20)
	u := unpacked(t, gzipped(t, zeros), nil)
	require.Equal(t, symbol.TooLarge, u.Problem.Code)
	require.Contains(t, u.Problem.Reason, "times its size")
	u = unpacked(t, aZip(t, file{"bomb", zeros}, file{"m", aMapping}), nil)
	require.Equal(t, []string{"bomb!too_large", "m:proguard"}, shown(u), "the others are read")
	u = unpacked(t, aZip(t, file{"m", aMapping}, file{"large", zeros[:1<<20]}), func(a *UnpackArgs) { a.Bytes = 1 << 19 })
	require.Equal(t, []string{"m:proguard"}, shown(u))
	require.Contains(t, u.Problem.Reason, "more than 0 MiB")
	var many []file
	for i := range maxBroken + 20 {
		many = append(many, file{fmt.Sprintf("../%d", i), "x"})
	}
	u = unpacked(t, aZip(t, many...), nil)
	require.Len(t, u.Members, maxBroken)
	require.Equal(t, 20, u.Ignored)
	u = unpacked(t, aZip(t, make([]file, maxEntries+1)...), nil)
	require.Equal(t, symbol.TooLarge, u.Problem.Code)
}

func TestManifest(t *testing.T) {
	t.Parallel()
	manifest := `{"release":"1.2","files":{"files/_/_/a.js":{"url":"~/static/a.js","type":"minified_source",
		"headers":{"Sourcemap":"a.js.map","debug-id":"85314830023F4CF1A267535F4E37BB17"}},"../x":{"url":"~/x"}}}`
	u := unpacked(t, aZip(t, file{"manifest.json", manifest}, file{"files/_/_/a.js", aScript}), nil)
	require.Equal(t, "1.2", u.Release)
	require.Equal(t, map[string]Mention{"files/_/_/a.js": {URL: "~/static/a.js", SourceMap: "a.js.map",
		DebugID: "85314830-023f-4cf1-a267-535f4e37bb17"}}, u.Manifest)
	u = unpacked(t, aZip(t, file{"manifest.json", "{"}, file{"a.js", aScript}), nil)
	require.Empty(t, u.Manifest)
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte(aMap))
	f.Add([]byte(aZip(f, file{"a", aMapping}, file{"../b", "x"})))
	f.Add([]byte(gzipped(f, aTar(f, file{"a", aScript}))))
	f.Add([]byte(aFat(0xcafebabe, 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		args := UnpackArgs{Path: filepath.Join(t.TempDir(), "upload"), Folder: t.TempDir(), Bytes: 16 << 20}
		require.NoError(t, os.WriteFile(args.Path, data, 0o600))
		u, err := unpack(context.Background(), args)
		require.NoError(t, err)
		for i, m := range u.Members {
			if m.Broken != nil {
				continue
			}
			_, _ = index(context.Background(), IndexArgs{File: m.File, Format: m.Format, Folder: args.Folder,
				Out: filepath.Join(args.Folder, fmt.Sprint("index", i))})
		}
	})
}
