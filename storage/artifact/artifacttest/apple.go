package artifacttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

const payload = "Payload/Demo.app/"

// info is an Info.plist of PackageName with more members.
func info(more string) []byte {
	return []byte(`<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleIdentifier</key><string>` + PackageName +
		`</string><key>CFBundleExecutable</key><string>Demo</string><key>CFBundleIconFile</key><string>Icon</string>` + more + `</dict></plist>`)
}

// plistIPA has as many property lists as are tried, each with as many values as one may
// have; the last one is the app's.
func plistIPA() []byte {
	broken := strings.Replace(string(info("<key>a</key><array>"+strings.Repeat("<integer>7</integer>", 55_000)+"</array>")),
		"CFBundleIdentifier", "Other", 1)
	one := entry{name: payload + "Info.plist", data: []byte(broken)}
	return zipped(nil, one, one, one, entry{name: payload + "Info.plist", data: info("<key>a</key><array>" +
		strings.Repeat("<true/>", 55_000) + "</array>")})
}

// profileIPA has a profile with as many devices and certificates as fit.
func profileIPA() []byte {
	list := `<?xml version="1.0"?><plist version="1.0"><dict><key>Name</key><string>p</string><key>ProvisionedDevices</key><array>` +
		strings.Repeat("<string>00008030-001A2B3C4D5E6F70</string>", 90_000) + `</array><key>DeveloperCertificates</key><array>` +
		strings.Repeat("<data>QUFBQUFBQUFBQUFB</data>", 90_000) + `</array></dict></plist>`
	return zipped(nil, entry{name: payload + "Info.plist", data: info("")}, entry{name: payload + "embedded.mobileprovision",
		data: signedMessage([]byte(list))})
}

// signedMessage is a CMS envelope around a content, in a piece for each byte where depth
// allows.
func signedMessage(content []byte) []byte {
	signed := der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02})
	data := der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01})
	return der(derSequence, signed, der(0xa0, der(derSequence, der(derInteger, []byte{1}), der(derSet),
		der(derSequence, data, der(0xa0, der(0x04, content))))))
}

// piecesIPA has a profile whose envelope is of millions of pieces and nested.
func piecesIPA() []byte {
	signed := der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02})
	data := der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01})
	pieces := bytes.Repeat([]byte{4, 1, ' '}, 1<<20)
	octets := der(0x24, pieces)
	for range 14 {
		octets = append(append([]byte{0x30, 0x80}, octets...), 0, 0)
	}
	message := der(derSequence, signed, der(0xa0, der(derSequence, der(derInteger, []byte{1}), octets,
		der(derSequence, data, der(0xa0, der(0x24, pieces))))))
	return zipped(nil, entry{name: payload + "Info.plist", data: info("")}, entry{name: payload + "embedded.mobileprovision", data: message})
}

// entriesIPA has a directory of as many entries as it may have, with names as long as the
// directory's bytes allow.
func entriesIPA() []byte {
	entries := []entry{{name: payload + "Info.plist", data: info("")}}
	for n := range 199_000 {
		entries = append(entries, entry{name: fmt.Sprintf(`Payload\Demo.app\Icon%06d%s.png`, n, strings.Repeat(`\x`, 10)), stored: true})
	}
	return zipped(nil, entries...)
}

// dsym has files that inflate to as much as is read of an archive.
func dsym() []byte {
	const n = 130 << 20
	head := binary.BigEndian.AppendUint32(nil, 0xcafebabe)
	head = binary.BigEndian.AppendUint32(head, 2)
	for _, at := range []uint32{127 << 20, 128<<20 - 100} {
		for _, v := range []uint32{0x0100000c, 0, at, 64, 0} {
			head = binary.BigEndian.AppendUint32(head, v)
		}
	}
	fat := make([]byte, 0, n)
	fat = append(fat, head...)
	fat = fat[:n]
	var entries []entry
	one := entry{data: nil, packed: deflated(fat), size: n}
	for i := range 8 {
		one.name = fmt.Sprintf("Demo.app.dSYM/Contents/Resources/DWARF/Demo%d", i)
		entries = append(entries, one)
	}
	return zipped(nil, entries...)
}
