// Package artifacttest makes packages that are meant to hurt whoever reads them: tests and
// the bench send them, and look at what they cost.
//
// Each of them is small to send, and was costly to read once, or would be for a reader that
// forgets one of its bounds: a subject of a certificate that is formatted in quadratic time,
// references that are resolved again for each part of an icon, directories of as many
// entries as there may be, property lists, images and tables of which a few bytes stand for
// very much. All are written by code, and the same each time.
//
// A Hostile says what becomes of it: a package whose identity can be read is accepted, with
// what could not be read among its warnings.
package artifacttest

// PackageName is the identifier of all apps that are made here.
const PackageName = "com.example.hostile"

// Hostile is one such file.
type Hostile struct {
	Name string // for people
	File string // the file's name, as a client sends it
	// Data makes its bytes, the same each time.
	Data func() []byte
	// Accepted: its identity can be read.
	Accepted bool
	// Symbols: it is a symbols file and no package.
	Symbols bool
}

// Corpus returns all of them.
func Corpus() []Hostile {
	return []Hostile{
		{Name: "58,222 names in a certificate's subject, three schemes", File: "signers.apk", Data: signersAPK, Accepted: true},
		{Name: "180,000 certificates in three signatures", File: "certificates.apk", Data: certificatesAPK, Accepted: true},
		{Name: "24,000 references of a vector icon, 15 deep", File: "vector.apk", Data: vectorAPK, Accepted: true},
		{Name: "a resource table of four million chunks", File: "chunks.apk", Data: chunksAPK, Accepted: true},
		{Name: "4,000 look-ups in 16,000 types", File: "lookups.apk", Data: lookupsAPK, Accepted: true},
		{Name: "a manifest of 250,000 attributes", File: "elements.apk", Data: elementsAPK, Accepted: true},
		{Name: "an icon of 800 stars", File: "drawn.apk", Data: drawnAPK, Accepted: true},
		{Name: "large images in layers", File: "images.apk", Data: imagesAPK, Accepted: true},
		{Name: "a compressed base APK of 60 MiB in a set", File: "set.xapk", Data: nestedSet, Accepted: true},
		{Name: "2,000 APKs in a set", File: "parts.apks", Data: partsSet, Accepted: true},
		{Name: "four property lists of 55,000 values", File: "plist.ipa", Data: plistIPA, Accepted: true},
		{Name: "90,000 devices in a profile", File: "profile.ipa", Data: profileIPA, Accepted: true},
		{Name: "a profile in two million pieces", File: "pieces.ipa", Data: piecesIPA, Accepted: true},
		{Name: "199,000 icons in a directory", File: "entries.ipa", Data: entriesIPA, Accepted: true},
		{Name: "a bundle whose table is scanned again and again", File: "bundle.aab", Data: scannedAAB, Accepted: true},
		{Name: "a GiB in a dSYM", File: "app.dSYM.zip", Data: dsym, Symbols: true},
		{Name: "an inflating manifest", File: "manifest.apk", Data: inflatingManifest},
	}
}
