package android

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// cheap fails the test when f takes 2 s of processor time, which other processes do
// not lengthen, or more memory than a package may.
func cheap(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpu(t)
	f()
	took := cpu(t) - start
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	require.Less(t, took, 2*time.Second)
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Entries that inflate to more than they may cost little; the manifest alone
// decides whether the package stays.
func TestInflatingPackages(t *testing.T) {
	zeros := make([]byte, 130<<20)
	manifest := packed{name: manifestName, data: manifestOf(node("application").with("icon", text("icon.png"))).bin()}
	for name, c := range map[string]struct {
		entries []packed
		invalid bool
	}{
		"manifest": {[]packed{{name: manifestName, data: zeros}}, true},
		"table":    {[]packed{manifest, {name: tableName, data: zeros}}, false},
		"half a table": {[]packed{manifest, {name: tableName, data: zeros[:maxPackedTable]},
			{name: "icon.png", data: zeros[:maxDrawable]}}, false},
		"icon":      {[]packed{manifest, {name: "icon.png", data: zeros}}, false},
		"signature": {[]packed{manifest, {name: "META-INF/A.RSA", data: zeros}, {name: "META-INF/B.RSA", data: zeros}}, false},
	} {
		raw := writtenAPK(t, nil, c.entries...)
		t.Run(name, func(t *testing.T) {
			cheap(t, func() {
				p, err := readAPK(t, raw)
				if c.invalid {
					var invalid *artifact.InvalidError
					require.ErrorAs(t, err, &invalid)
					return
				}
				require.NoError(t, err)
				require.NotEmpty(t, p.Warnings)
			})
		})
	}
}

// Many manifests that are garbage and long do not add up.
func TestManyManifests(t *testing.T) {
	var entries []packed
	for range 20 {
		entries = append(entries, packed{name: manifestName, data: make([]byte, 7<<20)})
	}
	raw := writtenAPK(t, nil, entries...)
	cheap(t, func() {
		_, err := readAPK(t, raw)
		require.Error(t, err)
	})
}

// Strings that share their bytes, elements without end and depth without end are
// bounded.
func TestHostileDocuments(t *testing.T) {
	pool := writtenChunk(kindStringPool, writtenWords(500_000, 0, 0, 28+4*500_000, 0),
		append(make([]byte, 4*500_000), append([]byte{0x02, 0x80, 0xff, 0xff}, make([]byte, 400_000)...)...))
	start := func(name uint32, attributes int) []byte {
		body := writtenWords(0xffffffff, name, 20<<16|20, uint32(attributes), 0)
		for i := range attributes {
			body = append(body, writtenWords(0xffffffff, name+uint32(i), 0, 8|uint32(typeString)<<24, name+uint32(i))...)
		}
		return writtenChunk(kindStartElement, writtenWords(0, 0), body)
	}
	var strung, deep, wide bytes.Buffer
	for i := range 400 {
		strung.Write(start(uint32(i*1000), 1000))
		strung.Write(writtenChunk(kindEndElement, writtenWords(0, 0), nil))
	}
	wide.Write(start(0, 0))
	for range 150_000 {
		deep.Write(start(0, 0))
		wide.Write(start(0, 0))
		wide.Write(writtenChunk(kindEndElement, writtenWords(0, 0), nil))
	}
	for name, body := range map[string][]byte{"strings": strung.Bytes(), "depth": deep.Bytes(), "width": wide.Bytes()} {
		t.Run(name, func(t *testing.T) {
			doc := writtenChunk(kindXML, nil, append(bytes.Clone(pool), body...))
			cheap(t, func() {
				_, err := parseXML(t.Context(), doc)
				require.NoError(t, err)
			})
		})
	}
}

// A table of many types, an icon that refers to many resources and strings that are
// long together are bounded.
func TestHostileTables(t *testing.T) {
	var types []byte
	pool := &writtenPool{strings: []string{strings.Repeat("s", 30_000)}}
	for range maxTypes {
		types = append(types, writtenType(pool, 1, config{}, []resource{{id: 0, value: ref(0x7f010001)},
			{id: 1, value: text(pool.strings[0])}}, 0, true)...)
	}
	header := make([]byte, 280)
	lit.PutUint32(header, 0x7f)
	table := func(types []byte) []byte {
		return writtenChunk(kindTable, writtenWords(1), append(pool.bytes(), writtenChunk(kindPackage, header, types)...))
	}
	cheap(t, func() {
		read, err := parseTable(t.Context(), inMemory(table(types)))
		require.NoError(t, err)
		for i := range uint32(10_000) {
			read.candidates(0x7f010000 | i)
		}
		require.Len(t, read.known, maxLookups)
	})
	more := append(types, types[:len(types)/maxTypes]...)
	_, err := parseTable(t.Context(), inMemory(table(more)))
	require.ErrorContains(t, err, "too many types")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = parseTable(ctx, inMemory(table(types)))
	require.ErrorIs(t, err, context.Canceled)
}

// Aliases that branch and images that are many and large end in time.
func TestHostileIcons(t *testing.T) {
	branching := branches{}
	for range maxVariants {
		for id := range uint32(5) {
			branching[id] = append(branching[id], candidate{Value: ref(id + 1)})
		}
	}
	cheap(t, func() {
		_, err := readIcon(t.Context(), icon.NewDecoder(1), branching, []value{ref(0)})
		require.ErrorIs(t, err, errNoIcon)
	})

	list := node("layer-list")
	for range maxItems {
		list.Children = append(list.Children, node("item").with("drawable", text("big.png")))
	}
	d := newDrawer(t.Context(), icon.NewDecoder(1), album{square(t, 500, red)})
	layer, err := d.element(list, 0)
	require.NoError(t, err)
	require.Equal(t, canvasSide, layer.Image.Bounds().Dx())
	require.Equal(t, maxItems, d.images)

	vector := vectorOf()
	for range maxVectorParts + 10 {
		vector.Children = append(vector.Children, box("M0,0h1v1z", hue(0xffff0000)))
	}
	v, err := (newDrawer(t.Context(), icon.NewDecoder(1), documents{})).vector(vector)
	require.NoError(t, err)
	require.Len(t, v.Paths, maxVectorParts)
}

// branches are resources without files.
type branches map[uint32][]candidate

func (b branches) candidates(id uint32) []candidate { return b[id] }

func (branches) drawable(string) (*element, []byte, error) { return nil, nil, errDrawable }

// album has one image under every path.
type album struct{ png []byte }

func (album) candidates(uint32) []candidate { return nil }

func (a album) drawable(string) (*element, []byte, error) { return nil, a.png, nil }

// A decoder that panics is one that failed.
func TestGuard(t *testing.T) {
	t.Parallel()
	require.NoError(t, catchPanic(func() error { return nil }))
	require.ErrorContains(t, catchPanic(func() error { panic("no") }), "decoder failed")
}

// A stored table is read in blocks, with the same result as in memory.
func TestTablesInBlocks(t *testing.T) {
	t.Parallel()
	var all []resource
	for i := range uint32(3000) {
		all = append(all, resource{id: 0x7f010000 | i, value: text(strings.Repeat(string(rune('a'+i%26)), int(i%700)))})
	}
	raw := writtenTable(all, 0, false)
	require.Greater(t, len(raw), 10*blockSize)
	read, err := parseTable(t.Context(), inFile(bytes.NewReader(raw), int64(len(raw))))
	require.NoError(t, err)
	for i := 0; i < len(all); i += 7 {
		require.Equal(t, []candidate{{Value: all[i].value}}, read.candidates(all[i].id))
	}
}

func FuzzXML(f *testing.F) {
	doc := manifestOf(node("application", node("activity")).with("label", text("ü")).with("icon", ref(iconID)))
	f.Add(doc.bin())
	f.Add(writtenXML(doc, xmlOptions{utf16: true, blank: true}))
	f.Add(vectorOf(node("group", box("M0,0h1v1z", hue(0xff112233))).with("rotation", num(3))).bin())
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := parseXML(t.Context(), raw)
		if err != nil {
			return
		}
		p := &artifact.Package{}
		icons := readManifest(doc, documents{}, p)
		require.LessOrEqual(t, len([]rune(p.Name)), maxText)
		require.NotContains(t, p.Name+p.PackageName+p.Version, "\x00")
		_, _ = readIcon(t.Context(), icon.NewDecoder(1), documents{}, icons)
		_, _ = (newDrawer(t.Context(), icon.NewDecoder(1), documents{})).element(doc, 0)
	})
}

func FuzzTable(f *testing.F) {
	all := []resource{
		{id: labelID, value: text("a")}, {id: labelID, config: config{Locale: "de"}, value: text("b")},
		{id: iconID, value: ref(labelID)}, {id: iconID + 3, value: num(3)}, {id: iconID + 4, bag: true},
	}
	for _, flags := range []byte{0, typeSparse, typeOffset16} {
		f.Add(writtenTable(all, flags, flags != 0))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := parseTable(t.Context(), inMemory(raw))
		blocks, again := parseTable(t.Context(), inFile(bytes.NewReader(raw), int64(len(raw))))
		require.Equal(t, err == nil, again == nil)
		if err != nil {
			return
		}
		for _, id := range []uint32{labelID, iconID, iconID + 3, iconID + 4} {
			require.Equal(t, read.candidates(id), blocks.candidates(id))
			resolve(&apk{table: read}, ref(id))
		}
	})
}

func FuzzAPK(f *testing.F) {
	f.Add(writtenAPK(f, signingBlock(pair{0x7109871a, signedPair(signedBy(f, "a", 1))}),
		packed{name: manifestName, data: manifestOf(node("application").with("icon", ref(iconID))).bin(), stored: true},
		packed{name: tableName, data: writtenTable([]resource{{id: iconID, value: text("i")}}, 0, false), stored: true},
		packed{name: "i", data: vectorOf(box("M0,0h1v1z", hue(0xff112233))).bin(), stored: true}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := bytes.NewReader(raw)
		a, err := archive.Open(r, r.Size())
		if err != nil {
			return
		}
		p, err := newReader().APK(t.Context(), artifact.Input{Reader: r, Size: r.Size(), Vendor: "slipway"}, a)
		if err != nil {
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		require.NotEmpty(t, p.PackageName)
	})
}
