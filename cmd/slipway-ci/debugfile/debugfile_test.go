package debugfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
)

// tree writes files below a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o640))
	}
	return dir
}

// anELF is a library with a build id and nothing else.
func anELF(id string) string {
	note := make([]byte, 12, 16+len(id))
	binary.LittleEndian.PutUint32(note, 4)
	binary.LittleEndian.PutUint32(note[4:], uint32(len(id)))
	binary.LittleEndian.PutUint32(note[8:], 3)
	note = append(append(note, "GNU\x00"...), id...)
	names := "\x00.note.gnu.build-id\x00.shstrtab\x00"
	var b bytes.Buffer
	h := elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_AARCH64),
		Version: 1, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2}
	h.Shoff = 64 + uint64(len(note)) + uint64(len(names))
	_ = binary.Write(&b, binary.LittleEndian, h)
	b.Write(note)
	b.WriteString(names)
	for _, s := range []elf.Section64{{}, {Name: 1, Type: uint32(elf.SHT_NOTE), Flags: 2, Off: 64, Size: uint64(len(note)), Addralign: 4},
		{Name: 20, Type: uint32(elf.SHT_STRTAB), Off: 64 + uint64(len(note)), Size: uint64(len(names)), Addralign: 1}} {
		_ = binary.Write(&b, binary.LittleEndian, s)
	}
	return b.String()
}

const (
	aMapping = "# compiler: R8\n# pg_map_id: 9B2C4D6\ncom.example.Shop -> a.b:\n    void pay() -> a\n"
	aSym     = "MODULE Linux x86_64 C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0 shop\nFUNC 1000 10 0 main\n"
	aScript  = "let a=1\n//# sourceMappingURL=app.js.map\n"
	aMap     = `{"version":3,"file":"app.js","sources":["app.ts"],"names":[],"mappings":"AAAA"}`
	anID     = "f5f9f1c2-0a0b-8c0d-8e0f-101112131415"
)

func found(t *testing.T, path string) map[string]string {
	t.Helper()
	files, err := Find(path)
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range files {
		text := string(f.Format)
		for _, id := range f.Identifiers {
			text += " " + id.Value
		}
		all[f.Name] = text
	}
	return all
}

func TestFindInAFolder(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"outputs/mapping/release/mapping.txt":                   aMapping,
		"outputs/mapping/release/seeds.txt":                     "com.example.Shop\n",
		"outputs/native-debug-symbols/native-debug-symbols.zip": "PK\x05\x06" + strings.Repeat("\x00", 18),
		"outputs/apk/release/app.apk":                           "PK\x05\x06" + strings.Repeat("\x00", 18),
		"merged_native_libs/arm64-v8a/libshop.so": anELF(
			"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"),
		"shop.sym":                    aSym,
		"web/app.js":                  aScript,
		"web/app.js.map":              aMap,
		"web/plain.js":                "let b=2\n",
		"web/node_modules/x/x.js":     aScript,
		"web/page.ts":                 "let c: number\n",
		".git/objects/app.js.map":     aMap,
		"empty.map":                   "",
		"damaged.so":                  "\x7fELF",
		"readme.md":                   "hello",
		"web/with-id.mjs":             "let d\n//# debugId=" + anID + "\n",
		"web/with-id.mjs.map":         `{"version":3,"mappings":"","sources":[],"debug_id":"` + strings.ToUpper(anID) + `"}`,
		"web/with-contents.js.map":    `)]}'` + "\n" + `{"version":3,"sourcesContent":["{\"debugId\":\"no\"}"],"mappings":"","sources":["a"]}`,
		"outputs/mapping/release/map": "",
	})
	require.NoError(t, os.Symlink(filepath.Join(dir, "shop.sym"), filepath.Join(dir, "link.sym")))
	require.Equal(t, map[string]string{
		"outputs/mapping/release/mapping.txt":                   "proguard 9b2c4d6",
		"outputs/native-debug-symbols/native-debug-symbols.zip": "zip",
		"merged_native_libs/arm64-v8a/libshop.so": "elf 0403020106050807090A0B0C0D0E0F100 " +
			"0102030405060708090a0b0c0d0e0f1011121314 0102030405060708090a0b0c0d0e0f1011121314",
		"shop.sym":                 "breakpad C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0",
		"web/app.js":               "source",
		"web/app.js.map":           "sourcemap",
		"web/with-id.mjs":          "source " + anID,
		"web/with-id.mjs.map":      "sourcemap " + anID,
		"web/with-contents.js.map": "sourcemap",
	}, found(t, dir))
}

func TestFindOfAnArchive(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"App.xcarchive/dSYMs/App.app.dSYM/Contents/Resources/DWARF/App": aSym, // its name and place matter, not its kind
		"App.xcarchive/Products/Applications/App.app/App":               aSym,
		"Empty.xcarchive/Info.plist":                                    "x",
	})
	require.Equal(t, map[string]string{"App.app.dSYM/Contents/Resources/DWARF/App": "breakpad C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0"},
		found(t, filepath.Join(dir, "App.xcarchive")))
	require.Empty(t, found(t, filepath.Join(dir, "Empty.xcarchive")))
}

func TestFilesThatAreNamed(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"readme.md": "hello", "empty": "", "damaged.so": "\x7fELF", "shop.sym": aSym,
		"x.json": `{"a":1}`, "m.dmp": "MDMP1234"})
	for name, want := range map[string]string{"readme.md": "is no symbol file: it is a text", "empty": "empty: it has 0 bytes",
		"damaged.so": "damaged: ", "x.json": "no source map", "m.dmp": "format=minidump"} {
		_, err := Find(filepath.Join(dir, name))
		var useless *UselessError
		require.ErrorAs(t, err, &useless, name)
		require.ErrorContains(t, err, want)
	}
	_, err := Find(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	files, err := Find(filepath.Join(dir, "shop.sym"))
	require.NoError(t, err)
	require.True(t, files[0].Sole())
	digest, err := files[0].SHA256()
	require.NoError(t, err)
	require.Len(t, digest, 64)
}

// What the server reads of the injected files is the same id, and the map is right as before.
func TestInject(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"a/app.js": "let a=1\n//# sourceMappingURL=app.js.map\n", "a/app.js.map": aMap,
		"guarded.js": "let a\r\n//# sourceMappingURL=guarded.js.map", "guarded.js.map": ")]}'\n {\"version\":3,\"mappings\":\"\",\"sources\":[]}",
		"script.js": "let a\n//# debugId=" + anID + "\n//# sourceMappingURL=script.js.map\n", "script.js.map": aMap,
		"map.js": "let a\n//# sourceMappingURL=map.js.map\n", "map.js.map": `{"debugId":"` + anID + `",` + aMap[1:],
		"both.js": "let a\n//# debugId=" + anID + "\n//# sourceMappingURL=both.js.map\n", "both.js.map": `{"debugId":"` + anID + `",` + aMap[1:],
		"odd.js":     "let a\n//# debugId=" + anID + "\n//# sourceMappingURL=odd.js.map\n",
		"odd.js.map": `{"debugId":"00000000-0000-4000-8000-000000000000",` + aMap[1:],
		"alone.js":   "let a\n//# sourceMappingURL=gone.js.map\n", "inline.js": "let a\n//# sourceMappingURL=data:application/json;base64,e30=\n",
		"remote.js": "let a\n//# sourceMappingURL=https://cdn.example.com/app.js.map\n",
		"string.js": "let a=\"//# sourceMappingURL=app.js.map\"\n//# sourceMappingURL=my%20map.map\n", "my map.map": `{}`,
	})
	files, err := Find(dir)
	require.NoError(t, err)
	// Of {} nobody knows that it is a map.
	done, odd, err := Inject(files)
	require.NoError(t, err)
	require.Len(t, odd, 1)
	require.Contains(t, odd[0], "odd.js has the debug id "+anID)
	ids := map[string]string{}
	for _, in := range done {
		name, err := filepath.Rel(dir, in.Script)
		require.NoError(t, err)
		ids[filepath.ToSlash(name)] = in.ID
	}
	require.Len(t, ids, 4, "%v", ids)
	require.Equal(t, anID, ids["script.js"])
	require.Equal(t, anID, ids["map.js"])
	for name, id := range ids {
		script, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		summary, err := sourcemap.IndexScript(bytes.NewReader(script), int64(len(script)), &bytes.Buffer{}, sourcemap.Options{URL: name})
		require.NoError(t, err)
		require.Equal(t, id, summary.DebugID, "the server reads the id of %s", name)
		require.NotEmpty(t, summary.SourceMappingURL, "%s leads to its map still", name)
		text, err := os.ReadFile(filepath.Join(dir, name+".map"))
		require.NoError(t, err)
		of, err := sourcemap.Index(bytes.NewReader(text), int64(len(text)), &bytes.Buffer{}, sourcemap.Options{})
		require.NoError(t, err, "%s", text)
		require.Equal(t, id, of.DebugID)
		normal, ok := symbol.Identifier{Type: symbol.ScriptID, Value: id}.Normalize()
		require.True(t, ok)
		require.Equal(t, id, normal.Value)
	}
	script, err := os.ReadFile(filepath.Join(dir, "a/app.js"))
	require.NoError(t, err)
	require.Equal(t, "let a=1\n//# debugId="+ids["a/app.js"]+"\n//# sourceMappingURL=app.js.map\n", string(script), "the code keeps its place")
	info, err := os.Stat(filepath.Join(dir, "a/app.js"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	files, err = Find(dir)
	require.NoError(t, err)
	done, _, err = Inject(files)
	require.NoError(t, err)
	require.Empty(t, done, "the second time nothing changes")
}

func FuzzComments(f *testing.F) {
	f.Add([]byte(aScript))
	f.Add([]byte("//@ sourceMappingURL=a\r\n//# debugId=" + anID))
	f.Fuzz(func(t *testing.T, text []byte) {
		at, value := lastComment(text, "sourceMappingURL")
		if (at < 0) != (value == "") || at >= len(text) {
			t.Fatalf("%d %q", at, value)
		}
		if _, err := mapDebugID(bytes.NewReader(text)); err != nil {
			_ = err.Error()
		}
	})
}
