package signature

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"strings"
)

// expectedDigest is a digest that devices of some declared version compare.
type expectedDigest struct {
	hash  crypto.Hash
	value []byte
}

// jarDigests are the digests of manifests by their names there, in upper case, with the API
// level that reads them; before Android 4.3 those that the section names counted.
var jarDigests = []struct {
	name  string
	hash  crypto.Hash
	since int
}{
	{"SHA-512", crypto.SHA512, 9}, {"SHA-384", crypto.SHA384, 9}, {"SHA-256", crypto.SHA256, 0},
	{"SHA1", crypto.SHA1, 0}, {"SHA", crypto.SHA1, 0}, {"SHA-1", crypto.SHA1, 0}, {"MD5", crypto.MD5, 0},
}

// modern is how many of them devices since Android 4.3 look for, the strongest first.
const modern = 4

// expected returns the digests of a section that are compared; none when some
// declared version finds none.
func (j *jar) expected(s section, suffix string) []expectedDigest {
	var list []expectedDigest
	if j.v.declared.MinSDK < levelJellyBeanMR2 {
		names, ok := s.value("Digest-Algorithms")
		if !ok {
			names = "SHA SHA1"
		}
		for name := range strings.FieldsSeq(names) {
			text, ok := s.value(name + suffix)
			if !ok {
				continue
			}
			if d, ok := oldDigest(name, text, j.v.declared.MinSDK); ok {
				list = append(list, d)
				break
			}
		}
		if len(list) == 0 {
			return nil
		}
	}
	return modernDigest(list, s, suffix)
}

// demanded are the digests of a section that must have one. Where some declared version
// finds none, the package is refused at the end, and compared as later versions do.
func (j *jar) demanded(s section, name string) []expectedDigest {
	list := j.expected(s, "-Digest")
	if len(list) > 0 {
		return list
	}
	if list = modernDigest(nil, s, "-Digest"); len(list) > 0 {
		_ = j.v.later(unsupported(V1, "there is no digest of the entry %q that Android API level %d reads", clip(name), j.v.declared.MinSDK))
	}
	return list
}

// modernDigest adds the digest that devices since Android 4.3 compare.
func modernDigest(list []expectedDigest, s section, suffix string) []expectedDigest {
	for _, d := range jarDigests[:modern] {
		text, ok := s.value(d.name + suffix)
		if !ok {
			continue
		}
		value := decodeDigest(text)
		if len(list) == 0 || list[0].hash != d.hash || !bytes.Equal(list[0].value, value) {
			list = append(list, expectedDigest{d.hash, value})
		}
		break
	}
	return list
}

func oldDigest(name, text string, level int) (expectedDigest, bool) {
	for _, d := range jarDigests {
		if strings.EqualFold(d.name, name) && d.since <= level {
			return expectedDigest{d.hash, decodeDigest(text)}, true
		}
	}
	return expectedDigest{}, false
}

// decodeDigest returns nil for a text that is no digest, which matches nothing.
func decodeDigest(text string) []byte {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}

func matches(expected []expectedDigest, data []byte) bool {
	for _, d := range expected {
		h := d.hash.New()
		h.Write(data)
		if !bytes.Equal(h.Sum(nil), d.value) {
			return false
		}
	}
	return true
}
