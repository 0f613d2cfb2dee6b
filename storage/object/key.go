package object

import (
	"fmt"
	"strings"
)

const (
	// maxKey bounds a key. S3 allows 1,024 bytes; folders need room for the
	// root and the shard folders below PATH_MAX (4,096).
	maxKey = 512
	// maxSegment bounds one part of a key: a file name (255 bytes in every
	// common file system) less what Folder appends.
	maxSegment = 200
	// maxSegments bounds the depth of folders.
	maxSegments = 16
)

// ValidKey reports whether key may name an object: 1 to 512 bytes, beginning
// with a-z or 0-9; up to 16 segments joined by single slashes, each of 1 to
// 200 characters from a-z, A-Z, 0-9, dot, hyphen and underscore, and none
// beginning with a dot. So "..", an empty segment, a leading or trailing slash
// cannot occur.
//
// Two rules between keys are the caller's to keep. No object stands where
// another has a folder ("a" and "a/b"): MinIO takes both, and then leaves the
// second out of listings. And on a case-insensitive file system keys must not
// differ by case alone.
func ValidKey(key string) bool {
	if key == "" || len(key) > maxKey || !lowerOrDigit(key[0]) {
		return false
	}
	if strings.Count(key, "/") >= maxSegments {
		return false
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || len(segment) > maxSegment || segment[0] == '.' {
			return false
		}
		for i := range len(segment) {
			if !keyByte(segment[i]) {
				return false
			}
		}
	}
	return true
}

// validPrefix reports whether some valid key could begin with prefix.
func validPrefix(prefix string) bool {
	return prefix == "" || ValidKey(strings.TrimSuffix(prefix, "/"))
}

func lowerOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

func keyByte(c byte) bool {
	return lowerOrDigit(c) || 'A' <= c && c <= 'Z' || c == '.' || c == '-' || c == '_'
}

// checkKey does not repeat the key: a refused one may hold anything.
func checkKey(key string) error {
	if !ValidKey(key) {
		return fmt.Errorf("%w (%d bytes)", ErrInvalidKey, len(key))
	}
	return nil
}
