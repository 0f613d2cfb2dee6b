package android

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// The APK signing block precedes the archive's directory: its length,
// pairs of id and value, its length again and a magic text. Play's metadata and
// padding are pairs too, so that only the headers of pairs are read.
// See source.android.com/docs/security/features/apksigning/v2.
const (
	blockMagic    = "APK Sig Block 42"
	maxSignature  = 1 << 20 // of one scheme; some kilobytes are usual
	maxBlockPairs = 1000
	maxV1         = 256 << 10
)

// The schemes by the ids of their pairs, and their order.
var (
	schemeOf = map[uint32]string{
		0x7109871a: "v2",
		0xf05368c0: "v3",
		0x1b93ad61: "v3.1",
	}
	schemes = []string{"v1", "v2", "v3", "v3.1"}
)

var errSignature = errors.New("the signing block is damaged")

// readSigner returns who signed an APK, by the highest scheme whose certificate can
// be read; nil for an APK that is not signed. A later scheme replaces the earlier
// ones on the devices that support it, so that new devices use the highest.
func readSigner(a *archive.Archive) (*artifact.Signer, error) {
	certificates, failed := blockSigners(a.Raw(), a.Directory())
	for _, e := range v1Signatures(a) {
		der, err := readV1(a, e)
		if err == nil {
			certificates["v1"] = der
			break
		}
		failed = firstError(failed, err)
	}
	s := &artifact.Signer{}
	var last []byte // what s describes
	for _, scheme := range schemes {
		der, ok := certificates[scheme]
		if !ok {
			continue
		}
		s.Schemes = append(s.Schemes, scheme)
		if last != nil && bytes.Equal(der, last) { // most packages have one certificate
			s.Scheme = scheme
			continue
		}
		err := describe(s, der)
		failed = firstError(failed, err)
		if err == nil || errors.Is(err, errSubject) {
			s.Scheme, last = scheme, der
		}
	}
	if s.Scheme == "" {
		return nil, failed
	}
	return s, failed
}

// readV1 returns the certificate of a signature file.
func readV1(a *archive.Archive, e archive.Entry) ([]byte, error) {
	raw, err := a.Read(e, maxV1)
	if err != nil {
		return nil, err
	}
	return v1Certificate(raw)
}

// v1Signatures returns the signature files of META-INF, at most three. A JAR signer
// writes as many as there are keys; apps have one.
func v1Signatures(a *archive.Archive) []archive.Entry {
	var found []archive.Entry
	for _, e := range a.Entries() {
		file, ok := strings.CutPrefix(e.Name, "META-INF/")
		if !ok || strings.Contains(file, "/") {
			continue
		}
		switch strings.ToUpper(path.Ext(file)) {
		case ".RSA", ".DSA", ".EC":
			if found = append(found, e); len(found) == 3 {
				return found
			}
		}
	}
	return found
}

// blockSigners returns the certificate of each scheme in the signing block. What
// could be read is returned with the error.
func blockSigners(r io.ReaderAt, directory int64) (map[string][]byte, error) {
	found := map[string][]byte{}
	var tail [24]byte
	if directory < 32 {
		return found, nil
	}
	if _, err := r.ReadAt(tail[:], directory-24); err != nil {
		return found, err
	}
	if string(tail[8:]) != blockMagic {
		return found, nil
	}
	length := binary.LittleEndian.Uint64(tail[:])
	if length < 24 || length > uint64(directory-8) {
		return found, errSignature
	}
	at, end := directory-int64(length), directory-24
	var failed error
	for n := 0; at+12 <= end && n < maxBlockPairs; n++ {
		var head [12]byte
		if _, err := r.ReadAt(head[:], at); err != nil {
			return found, err
		}
		size := binary.LittleEndian.Uint64(head[:])
		if size < 4 || size > uint64(end-at-8) {
			return found, errSignature
		}
		scheme, known := schemeOf[binary.LittleEndian.Uint32(head[8:])]
		if _, twice := found[scheme]; known && !twice {
			der, err := pairCertificate(r, at+12, int64(size)-4)
			failed = firstError(failed, err)
			found[scheme] = der
		}
		at += 8 + int64(size)
	}
	return found, failed
}

// pairCertificate reads the first certificate of the first signer of a scheme.
// v2, v3 and v3.1 begin alike: signers, signer, signed data, digests, certificates,
// each with its length in front.
func pairCertificate(r io.ReaderAt, at, size int64) ([]byte, error) {
	if size > maxSignature {
		return nil, errSignature
	}
	raw := make([]byte, size)
	if _, err := r.ReadAt(raw, at); err != nil {
		return nil, err
	}
	signers, _, ok1 := prefixed(raw)
	signer, _, ok2 := prefixed(signers)
	signed, _, ok3 := prefixed(signer)
	_, rest, ok4 := prefixed(signed)
	certificates, _, ok5 := prefixed(rest)
	der, _, ok6 := prefixed(certificates)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || len(der) == 0 {
		return nil, errSignature
	}
	return der, nil
}

// prefixed splits off a part that has its 32-bit length in front.
func prefixed(b []byte) (part, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}

// firstError returns the first of several errors.
func firstError(first, err error) error {
	if first != nil {
		return first
	}
	return err
}
