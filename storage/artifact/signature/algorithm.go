package signature

import (
	"cmp"
	"crypto"
	"crypto/dsa" //nolint:staticcheck // SA1019: Android verifies such signatures of old keys
	"crypto/ecdsa"
	_ "crypto/md5" // registers the hash, which old signatures of JARs have
	"crypto/rsa"
	_ "crypto/sha1" // likewise
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/asn1"
	"math/big"
)

// contentDigest is how the bytes of the file are digested by v2 and later.
type contentDigest string

// The digests, of rising strength.
const (
	chunkedSHA256 contentDigest = "SHA-256"
	veritySHA256  contentDigest = "verity SHA-256"
	chunkedSHA512 contentDigest = "SHA-512"
)

func (d contentDigest) strength() int {
	switch d {
	case chunkedSHA256:
		return 1
	case veritySHA256:
		return 2
	}
	return 3
}

// key is a kind of public key.
type key string

const (
	keyRSA key = "RSA"
	keyDSA key = "DSA"
	keyEC  key = "EC"
)

// algorithm is a signature algorithm of v2 and later.
type algorithm struct {
	name    string
	key     key
	pss     bool
	hash    crypto.Hash
	content contentDigest
	since   int // the API level
}

// The algorithms by their ids.
var algorithms = map[uint32]algorithm{
	0x0101: {"RSA-PSS with SHA-256", keyRSA, true, crypto.SHA256, chunkedSHA256, levelNougat},
	0x0102: {"RSA-PSS with SHA-512", keyRSA, true, crypto.SHA512, chunkedSHA512, levelNougat},
	0x0103: {"RSA with SHA-256", keyRSA, false, crypto.SHA256, chunkedSHA256, levelNougat},
	0x0104: {"RSA with SHA-512", keyRSA, false, crypto.SHA512, chunkedSHA512, levelNougat},
	0x0201: {"ECDSA with SHA-256", keyEC, false, crypto.SHA256, chunkedSHA256, levelNougat},
	0x0202: {"ECDSA with SHA-512", keyEC, false, crypto.SHA512, chunkedSHA512, levelNougat},
	0x0301: {"DSA with SHA-256", keyDSA, false, crypto.SHA256, chunkedSHA256, levelNougat},
	0x0421: {"RSA with SHA-256 and verity", keyRSA, false, crypto.SHA256, veritySHA256, levelPie},
	0x0423: {"ECDSA with SHA-256 and verity", keyEC, false, crypto.SHA256, veritySHA256, levelPie},
	0x0425: {"DSA with SHA-256 and verity", keyDSA, false, crypto.SHA256, veritySHA256, levelPie},
}

// verifies reports whether sig is the key's signature of data. A key of another
// kind verifies nothing.
func (a algorithm) verifies(public crypto.PublicKey, data, sig []byte) bool {
	h := a.hash.New()
	h.Write(data)
	sum := h.Sum(nil)
	switch k := public.(type) {
	case *rsa.PublicKey:
		switch {
		case a.key != keyRSA:
			return false
		case a.pss:
			return rsa.VerifyPSS(k, a.hash, sum, sig, &rsa.PSSOptions{SaltLength: a.hash.Size()}) == nil
		case k.N.BitLen() < 1024:
			return verifySmallRSA(k, a.hash, sum, sig)
		}
		return rsa.VerifyPKCS1v15(k, a.hash, sum, sig) == nil
	case *ecdsa.PublicKey:
		return a.key == keyEC && ecdsa.VerifyASN1(k, sum, sig)
	case *dsa.PublicKey:
		return a.key == keyDSA && verifyDSA(k, sum, sig)
	}
	return false
}

// digestInfo are the bytes in front of a digest in a signature of RSA (RFC 8017,
// 9.2).
var digestInfo = map[crypto.Hash]string{
	crypto.MD5:    "\x30\x20\x30\x0c\x06\x08\x2a\x86\x48\x86\xf7\x0d\x02\x05\x05\x00\x04\x10",
	crypto.SHA1:   "\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
	crypto.SHA224: "\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c",
	crypto.SHA256: "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
	crypto.SHA384: "\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
	crypto.SHA512: "\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
}

// verifySmallRSA verifies with a key that crypto/rsa refuses for its size, and
// Android does not.
func verifySmallRSA(k *rsa.PublicKey, h crypto.Hash, sum, sig []byte) bool {
	size := (k.N.BitLen() + 7) / 8
	suffix := digestInfo[h] + string(sum)
	padding := size - 3 - len(suffix)
	n := new(big.Int).SetBytes(sig)
	if len(sig) != size || padding < 8 || n.Cmp(k.N) >= 0 {
		return false
	}
	block := n.Exp(n, big.NewInt(int64(k.E)), k.N).FillBytes(make([]byte, size))
	if block[0] != 0 || block[1] != 1 || block[2+padding] != 0 || string(block[3+padding:]) != suffix {
		return false
	}
	for _, b := range block[2 : 2+padding] {
		if b != 0xff {
			return false
		}
	}
	return true
}

func verifyDSA(k *dsa.PublicKey, sum, sig []byte) bool {
	var s struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(sig, &s); err != nil || len(rest) > 0 {
		return false
	}
	return dsa.Verify(k, sum[:min(len(sum), (k.Q.BitLen()+7)/8)], s.R, s.S)
}

// signatureRecord is a signature of a signer.
type signatureRecord struct {
	id  uint32
	sig []byte
}

// required returns the signatures that devices of the versions from low to high
// would verify: on each the strongest that it supports. It fails when the oldest of
// them supports none, with those of later ones.
func required(scheme string, records []signatureRecord, low, high int) ([]signatureRecord, error) {
	best := map[int]signatureRecord{}
	first := levelEnd
	for _, r := range records {
		a, known := algorithms[r.id]
		if !known || a.since > high {
			continue
		}
		first = min(first, a.since)
		now, ok := best[a.since]
		if !ok || cmp.Compare(a.content.strength(), algorithms[now.id].content.strength()) > 0 {
			best[a.since] = r
		}
	}
	if len(best) == 0 {
		return nil, broken(scheme, "it has no signature of a known algorithm")
	}
	list := make([]signatureRecord, 0, len(best))
	for _, r := range best {
		list = append(list, r)
	}
	if first > low {
		return list, unsupported(scheme,
			"its signature algorithms are read from Android API level %d on, and the package is for %d and later", first, low)
	}
	return list, nil
}
