package apple

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"howett.net/plist"
)

func TestDecodePlist(t *testing.T) {
	t.Parallel()
	when := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	value := map[string]any{
		"text": " a ü 日 ", "number": 45, "real": 1.5, "yes": true, "date": when,
		"list": []any{"x", 2, map[string]any{"y": 1}}, "data": []byte("bytes"), "child": map[string]any{"key": "value"},
	}
	formats := map[string][]byte{
		"xml":            marshal(t, value, plist.XMLFormat),
		"binary":         marshal(t, value, plist.BinaryFormat),
		"byte order":     append([]byte("\xef\xbb\xbf\n"), marshal(t, value, plist.XMLFormat)...),
		"no declaration": bytes.TrimPrefix(marshal(t, value, plist.XMLFormat), []byte(`<?xml version="1.0" encoding="UTF-8"?>`)),
	}
	for name, raw := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := decodePlist(raw)
			require.NoError(t, err)
			require.Equal(t, "a ü 日", d.text("text"))
			require.Equal(t, "45", d.text("number"))
			require.Equal(t, "1.5", d.text("real"))
			require.True(t, d.flag("yes"))
			require.Equal(t, when, d.date("date"))
			require.Equal(t, []string{"x", "2"}, d.texts("list"))
			require.Equal(t, []string{"45"}, d.texts("number"))
			require.Equal(t, "value", d.dict("child").text("key"))
			require.Equal(t, "45", d.firstText("nothing", "data", "number"))
			// Another type than expected is nothing.
			require.Empty(t, d.text("list"))
			require.Empty(t, d.texts("child"))
			require.False(t, d.flag("text"))
			require.True(t, d.date("text").IsZero())
			require.Empty(t, d.dict("text").dict("deeper").text("x"))
		})
	}
}

func TestDecodePlistRefuses(t *testing.T) {
	t.Parallel()
	good := marshal(t, map[string]any{"a": "b"}, plist.BinaryFormat)
	change := func(fromEnd int, value byte) []byte {
		raw := bytes.Clone(good)
		raw[len(raw)-fromEnd] = value
		return raw
	}
	for name, raw := range map[string][]byte{
		"empty":             nil,
		"text":              []byte(`{ a = b; }`),
		"json":              []byte(`{"a":"b"}`),
		"utf-16":            []byte("<\x00p\x00l\x00i\x00s\x00t\x00"),
		"no xml":            []byte(`<plist><dict><key>a</key>`),
		"array":             marshal(t, []string{"a"}, plist.XMLFormat),
		"binary array":      marshal(t, []string{"a"}, plist.BinaryFormat),
		"garbage in xml":    []byte(`<?xml version="1.0"?>((((((`),
		"truncated binary":  good[:len(good)-5],
		"magic alone":       []byte("bplist00"),
		"no offset size":    change(26, 0),
		"no reference size": change(25, 0),
		"many objects":      change(18, 0xff),
		"top out of range":  change(9, 0xff),
		"table outside":     change(3, 0xff),
		"root is itself":    selfReference(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decodePlist(raw)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 100)
		})
	}
}

// binaryPlist puts objects into a binary list whose first object is the top.
func binaryPlist(ref int, objects ...[]byte) []byte {
	raw := []byte("bplist00")
	var table []byte
	for _, o := range objects {
		table = binary.BigEndian.AppendUint32(table, uint32(len(raw)))
		raw = append(raw, o...)
	}
	return trailed(raw, table, ref, len(objects))
}

func trailed(raw, table []byte, ref, objects int) []byte {
	at := len(raw)
	raw = append(raw, table...)
	raw = append(raw, 0, 0, 0, 0, 0, 0, 4, byte(ref))
	raw = binary.BigEndian.AppendUint64(raw, uint64(objects))
	raw = binary.BigEndian.AppendUint64(raw, 0)
	return binary.BigEndian.AppendUint64(raw, uint64(at))
}

func selfReference() []byte { return binaryPlist(1, []byte{0xa1, 0}) }

// nestedBinary nests arrays, each with one item.
func nestedBinary(depth int) []byte {
	objects := make([][]byte, 0, depth+1)
	for i := range depth {
		objects = append(objects, []byte{0xa1, byte((i + 1) >> 16), byte((i + 1) >> 8), byte(i + 1)})
	}
	return binaryPlist(3, append(objects, []byte{0x09})...)
}

// laughs nests arrays, each with the next one ten times.
func laughs(depth int) []byte {
	var objects [][]byte
	for i := range depth {
		objects = append(objects, append([]byte{0xaa}, bytes.Repeat([]byte{byte(i + 1)}, 10)...))
	}
	return binaryPlist(1, append(objects, []byte{0x09})...)
}

// overlapping has one array whose items are all one long text.
func overlapping(items, length int) []byte {
	array := binary.BigEndian.AppendUint32([]byte{0xaf, 0x12}, uint32(items))
	for i := range items {
		array = append(array, byte((i+1)>>16), byte((i+1)>>8), byte(i+1))
	}
	raw := append([]byte("bplist00"), array...)
	table := binary.BigEndian.AppendUint32(nil, 8)
	for range items {
		table = binary.BigEndian.AppendUint32(table, uint32(len(raw)))
	}
	raw = binary.BigEndian.AppendUint32(append(raw, 0x6f, 0x12), uint32(length))
	raw = append(raw, make([]byte, 2*length)...)
	return trailed(raw, table, 3, items+1)
}

func TestPlistBombs(t *testing.T) {
	const size = maxPlist - 1000
	xml := func(head, body string) []byte {
		return []byte(head + strings.Repeat(body, (size-len(head))/len(body)))
	}
	const head = `<?xml version="1.0"?><plist version="1.0">`
	for name, raw := range map[string][]byte{
		"nested arrays":         xml(head, "<array>"),
		"nested with namespace": xml(head, "<x:array>"),
		"nested unknown":        xml(head+"<dict><key>a</key><string>", "<b>"),
		"hidden in comments":    xml(head, "<array><!-- </array> -->"),
		"many elements":         xml(head+"<array>", "<true/>"),
		"old text format":       xml("", "("),
		"old text behind xml":   xml("<!-- x", "("),
		"entities":              xml(`<!DOCTYPE plist [<!ENTITY a "aaaaaaaaaa">`, `<!ENTITY b "&a;&a;&a;">`),
		"entities are used":     []byte(`<!DOCTYPE plist [<!ENTITY a "aaaa">]><plist><dict><key>a</key><string>&a;</string></dict></plist>`),
		"long comment":          xml(head+"<!-- ", "aaaaaaaa"),
		"long text":             xml(head+"<dict><key>a</key><string>", "aaaaaaaa"),
		"long data":             xml(head+"<dict><key>a</key><data>", "AAAA"),
		"attributes":            xml(head+"<dict ", `a="b" `),
		"binary nested":         nestedBinary(maxElements - 2),
		"binary laughs":         laughs(30),
		"binary overlapping":    overlapping(100_000, 1<<20),
		"too long":              append(marshal(t, map[string]any{"a": "b"}, plist.XMLFormat), make([]byte, maxPlist)...),
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, func() {
				_, err := decodePlist(raw)
				require.Error(t, err)
			})
		})
	}
}

// The largest lists that are decoded stay within the bounds as well.
func TestPlistAtItsLimits(t *testing.T) {
	const head, tail = `<?xml version="1.0"?><plist version="1.0"><dict><key>a</key>`, `</dict></plist>`
	for name, body := range map[string]string{
		"containers": "<array>" + strings.Repeat("<array>", maxContainers-10) + strings.Repeat("</array>", maxContainers-10) + "</array>",
		"elements":   "<array>" + strings.Repeat("<string>x</string>", maxElements-10) + "</array>",
		"text":       "<string>" + strings.Repeat("x", maxPlist-100) + "</string>",
		"data":       "<data>" + strings.Repeat("AAAA", (maxPlist-100)/4) + "</data>",
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, func() {
				d, err := decodePlist([]byte(head + body + tail))
				require.NoError(t, err)
				require.Contains(t, d, "a")
			})
		})
	}
}

func FuzzPlist(f *testing.F) {
	for _, format := range []int{plist.XMLFormat, plist.BinaryFormat} {
		f.Add(marshal(f, demo(nil), format))
	}
	f.Add(laughs(4))
	f.Add(overlapping(3, 4))
	f.Add(selfReference())
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := decodePlist(raw)
		if err != nil {
			return
		}
		require.NotNil(t, d)
		_ = packageOf(d, "x")
		_ = mobilePlatform(d)
		_ = d.dict("CFBundleIcons").dict("CFBundlePrimaryIcon").texts("CFBundleIconFiles")
	})
}
