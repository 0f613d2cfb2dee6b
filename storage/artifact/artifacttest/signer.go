package artifacttest

import (
	"encoding/asn1"
	"slices"
)

// der writes an element of DER.
func der(tag byte, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	head := []byte{tag}
	switch n := len(body); {
	case n < 0x80:
		head = append(head, byte(n))
	case n < 0x100:
		head = append(head, 0x81, byte(n))
	case n < 0x10000:
		head = append(head, 0x82, byte(n>>8), byte(n))
	default:
		head = append(head, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	return append(head, body...)
}

const (
	derInteger  = 0x02
	derSequence = 0x30
	derSet      = 0x31
)

// name is a distinguished name of so many relative ones, each a mail address of a letter.
func name(relative int) []byte {
	mail := der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01})
	return der(derSequence, slices.Repeat(der(derSet, der(derSequence, mail, der(0x16, []byte("a")))), relative))
}

// Certificate returns a certificate whose subject has so many relative names, as far as
// readers look at it: it is signed by nobody. Its serial number is 1.
func Certificate(relative int) []byte {
	time := func(s string) []byte { return der(asn1.TagUTCTime, []byte(s)) }
	subject := name(relative)
	return der(derSequence, der(derSequence, der(0xa0, der(derInteger, []byte{2})), der(derInteger, []byte{1}), der(derSequence),
		name(1), der(derSequence, time("200101000000Z"), time("490101000000Z")), subject))
}

// jarSignature is PKCS #7 with one signer, which is the last of the certificates.
func jarSignature(certificates ...[]byte) []byte {
	signer := der(derSequence, der(derInteger, []byte{1}), der(derSequence, name(1), der(derInteger, []byte{1})))
	data := der(derSequence, der(derInteger, []byte{1}), der(derSet), der(derSequence), der(0xa0, certificates...), der(derSet, signer))
	return der(derSequence, der(0x06, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}), der(0xa0, data))
}

// sized puts the length in front of parts and joins them.
func sized(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(le.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// signingBlock is the block of an APK whose schemes all have one certificate.
func signingBlock(certificate []byte, schemes ...uint32) []byte {
	signed := sized(sized([]byte("digest")), sized(certificate), nil)
	value := sized(sized(sized(signed, []byte("signatures"), []byte("key"))))
	var body []byte
	for _, id := range schemes {
		body = le.AppendUint64(body, uint64(4+len(value)))
		body = append(le.AppendUint32(body, id), value...)
	}
	size := le.AppendUint64(nil, uint64(len(body)+24))
	return slices.Concat(size, body, size, []byte("APK Sig Block 42"))
}

// The ids of schemes 2, 3 and 3.1.
const (
	scheme2  = 0x7109871a
	scheme3  = 0xf05368c0
	scheme31 = 0x1b93ad61
)

// signersAPK is signed by all schemes, with a subject of 58,222 relative names: as many as
// fit into the MiB that a scheme may take.
func signersAPK() []byte {
	jar := entry{name: "META-INF/CERT.RSA", data: jarSignature(Certificate(14_000)), stored: true}
	return zipped(signingBlock(Certificate(58_222), scheme2, scheme3, scheme31), manifestEntry(), jar)
}

// certificatesAPK has a signature of as many certificates as it may hold, none of which is
// the signer's.
func certificatesAPK() []byte {
	other := Certificate(0)
	other[len(other)-1]++ // no certificate any more
	jar := jarSignature(slices.Repeat([][]byte{der(derSequence, der(derSequence))}, 60_000)...)
	var entries []entry
	for _, name := range []string{"META-INF/A.RSA", "META-INF/B.RSA", "META-INF/C.RSA"} {
		entries = append(entries, entry{name: name, data: jar})
	}
	return zipped(nil, append(entries, manifestEntry())...)
}
