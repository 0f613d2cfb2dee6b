package android

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// maxABIs bounds the list; Android has had eight.
const maxABIs = 16

// entryNames returns what follows from the names of the entries: the ABIs that have
// libraries, sorted, and whether the vendor's SDK is in the package.
func entryNames(entries []archive.Entry, vendor string) (abis []string, sdk bool) {
	vendor = strings.ToLower(vendor)
	for i := range entries {
		name := entries[i].Name
		if abi, ok := abiOf(name); ok && len(abis) < maxABIs && !slices.Contains(abis, abi) {
			abis = append(abis, abi)
		}
		sdk = sdk || vendorEntry(name, vendor)
	}
	slices.Sort(abis)
	return abis, sdk
}

// abiOf returns the ABI of lib/ABI/file.
func abiOf(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "lib/")
	if !ok {
		return "", false
	}
	abi, file, ok := strings.Cut(rest, "/")
	if !ok || abi == "" || file == "" || len(abi) > 32 || strings.Contains(file, "/") {
		return "", false
	}
	for _, r := range abi {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_') {
			return "", false
		}
	}
	return abi, true
}

// vendorEntry reports whether an entry is part of the vendor's SDK: a native
// library named after the vendor, or a file or folder named after it under
// assets, or under META-INF, where libraries leave their version as in
// com.vendor.sdk.version. vendor is in lower case.
func vendorEntry(name, vendor string) bool {
	if vendor == "" || len(name) <= len(vendor) {
		return false
	}
	if abi, ok := abiOf(name); ok {
		file := strings.ToLower(name[len("lib/")+len(abi)+1:])
		return strings.HasPrefix(file, "lib"+vendor) && strings.HasSuffix(file, ".so")
	}
	if rest, ok := strings.CutPrefix(name, "assets/"); ok && len(rest) >= len(vendor) {
		return strings.EqualFold(rest[:len(vendor)], vendor)
	}
	if rest, ok := strings.CutPrefix(name, "META-INF/"); ok {
		rest = strings.ToLower(rest)
		return strings.HasPrefix(rest, vendor) || strings.Contains(rest, "."+vendor)
	}
	return false
}
