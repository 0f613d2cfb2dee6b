package signature

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

const (
	manifestName = "META-INF/MANIFEST.MF"
	metaFolder   = "META-INF/"
)

// jar verifies v1.
type jar struct {
	v        *verification
	archive  *archive.Archive
	manifest *manifest
	left     int64 // what entries may still inflate to
}

// verify returns the signers of the package, each of which signed all entries.
func (j *jar) verify() ([]*signer, error) {
	j.left = max(leastInflated, j.v.size*inflateRatio)
	entries := map[string]archive.Entry{}
	for _, e := range j.archive.Entries() {
		if _, twice := entries[e.Name]; twice {
			return nil, broken(V1, "the archive has two entries of the name %q", clip(e.Name))
		}
		entries[e.Name] = e
	}
	if j.archive.Directory() != j.v.sections.directory {
		return nil, broken(V1, "there is something in front of the archive")
	}
	blocks := signatureBlocks(j.archive.Entries())
	file, ok := entries[manifestName]
	if !ok {
		if len(blocks) == 0 {
			return nil, j.absent()
		}
		return nil, broken(V1, "it has no %s", manifestName)
	}
	raw, err := j.read(file, maxJARFile)
	if err != nil {
		return nil, err
	}
	if j.manifest, err = parseManifest(raw); err != nil {
		return nil, err
	}
	for name := range j.manifest.sections {
		if _, ok := entries[name]; !ok {
			return nil, broken(V1, "the entry %q was removed from the package", clip(name))
		}
	}
	signers, err := j.signers(blocks, entries)
	if err != nil {
		return nil, err
	}
	return signers, j.verifyEntries(signers)
}

// signatureBlocks are the PKCS #7 files.
func signatureBlocks(entries []archive.Entry) []archive.Entry {
	var found []archive.Entry
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, metaFolder) {
			continue
		}
		switch path.Ext(e.Name) {
		case ".RSA", ".DSA", ".EC":
			found = append(found, e)
		}
	}
	return found
}

// signers verifies the signature files. One that signs none of the package, as its
// parts do not agree with the manifest, is ignored by Android; then others decide.
func (j *jar) signers(blocks []archive.Entry, entries map[string]archive.Entry) ([]*signer, error) {
	var signers []*signer
	var ignored error
	tried := 0
	for _, block := range blocks {
		file, ok := entries[strings.TrimSuffix(block.Name, path.Ext(block.Name))+".SF"]
		if !ok {
			continue
		}
		if tried++; tried > maxSigners {
			return nil, broken(V1, "it has more than %d signers", maxSigners)
		}
		rawBlock, err := j.read(block, maxJARBlock)
		if err != nil {
			return nil, err
		}
		rawFile, err := j.read(file, maxJARFile)
		if err != nil {
			return nil, err
		}
		c, err := verifyJARBlock(rawBlock, rawFile, j.v.declared.MinSDK, j.v.later)
		if errors.Is(err, errAlgorithm) {
			err = broken(V1, "%s", err)
		}
		if err != nil {
			return nil, named(err, block.Name)
		}
		names, err := j.signatureFile(rawFile)
		var skip *ignoredError
		switch {
		case errors.As(err, &skip):
			ignored = skip.cause
		case err != nil:
			return nil, err
		default:
			signers = append(signers, &signer{certificate: c, names: names})
		}
	}
	switch {
	case len(signers) > 0:
		return signers, nil
	case ignored != nil:
		return nil, ignored
	case len(blocks) == 0:
		return nil, j.absent()
	}
	return nil, broken(V1, "it has no signature")
}

// absent is the failure of a package without a signature of v1. With one of a later
// scheme, which has held, it is as it was signed.
func (j *jar) absent() error {
	if len(j.v.found) == 0 {
		return &Failure{Reason: reasonUnsigned}
	}
	return unsupported(V1,
		"it has no signature of this scheme (no %s), and Android before 7 reads no other; the package is for API level %d and later",
		manifestName, j.v.declared.MinSDK)
}

// named adds the name of the file to a failure.
func named(err error, name string) error {
	var f *Failure
	if errors.As(err, &f) {
		return &Failure{Scheme: f.Scheme, Reason: clip(name) + ": " + f.Reason, Tampered: f.Tampered}
	}
	return err
}

// ignoredError is a signature file that Android passes over.
type ignoredError struct{ cause error }

func (e *ignoredError) Error() string { return e.cause.Error() }

// signatureFile compares a signature file with the manifest, and returns the names
// that it has. A digest of the whole manifest suffices; where it differs, each
// section must have one of its own.
func (j *jar) signatureFile(raw []byte) (map[string]bool, error) {
	sf, err := parseManifest(raw)
	if err != nil {
		return nil, &ignoredError{err}
	}
	if _, ok := sf.main.value("Signature-Version"); !ok {
		return nil, &ignoredError{broken(V1, "its signature file has no Signature-Version")}
	}
	if err := j.stripped(sf.main); err != nil {
		return nil, err
	}
	by, _ := sf.main.value("Created-By")
	old := strings.Contains(by, "signtool")
	suffix := "-Digest-Manifest"
	if old {
		suffix = "-Digest"
	}
	whole := j.expected(sf.main, suffix)
	same := len(whole) > 0 && matches(whole, j.manifest.raw)
	if !old {
		if main := j.expected(sf.main, "-Digest-Manifest-Main-Attributes"); !matches(main, j.manifest.text(j.manifest.main)) {
			return nil, broken(V1, "the main section of the manifest was changed after it was signed")
		}
	}
	names := map[string]bool{}
	for name, section := range sf.sections {
		names[name] = true
		if same {
			continue
		}
		listed, ok := j.manifest.sections[name]
		if !ok {
			return nil, &ignoredError{broken(V1, "the signed entry %q is not in the manifest", clip(name))}
		}
		digests := j.demanded(section, name)
		text := j.manifest.text(listed)
		if old {
			text = signtoolSection(text)
		}
		if len(digests) == 0 {
			return nil, broken(V1, "the entry %q has no digest in the signature file", clip(name))
		}
		if !matches(digests, text) {
			return nil, broken(V1, "what the manifest says of %q was changed after it was signed", clip(name))
		}
	}
	return names, nil
}

// signtoolSection is a section as the old tool signtool digested it: with one line
// end behind it.
func signtoolSection(text []byte) []byte {
	if bytes.HasSuffix(text, []byte("\n\n")) {
		return text[:len(text)-1]
	}
	return text
}

// stripped checks that newer signatures are there which the signature file names.
func (j *jar) stripped(main section) error {
	list, ok := main.value("X-Android-APK-Signed")
	if !ok {
		return nil
	}
	for id := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(id))
		if err != nil {
			continue
		}
		if name, known := schemeIDs[uint32(n)]; known && (n == 2 || n == 3) && !j.v.found[n] {
			return broken(V1, "the package was signed by the scheme %s too, and that signature was stripped", name)
		}
	}
	return nil
}

// verifyEntries compares each entry outside of META-INF with the manifest, and
// checks that the same signers signed all of them.
func (j *jar) verifyEntries(signers []*signer) error {
	var first []bool
	for _, e := range j.archive.Entries() {
		if strings.HasPrefix(e.Name, metaFolder) || strings.HasSuffix(e.Name, "/") {
			continue
		}
		section, ok := j.manifest.sections[e.Name]
		if !ok {
			return broken(V1, "the entry %q is not signed: the manifest does not have it", clip(e.Name))
		}
		by := make([]bool, len(signers))
		for i, s := range signers {
			by[i] = s.names[e.Name]
		}
		switch {
		case !slices.Contains(by, true):
			return broken(V1, "the entry %q is not signed", clip(e.Name))
		case first == nil:
			first = by
		case !slices.Equal(first, by):
			return broken(V1, "the entry %q is signed by others than the rest", clip(e.Name))
		}
		digests := j.demanded(section, e.Name)
		if len(digests) == 0 {
			return unsupported(V1, "the manifest has no digest of the entry %q that Android API level %d reads", clip(e.Name), j.v.declared.MinSDK)
		}
		if err := j.digest(e, digests); err != nil {
			return err
		}
	}
	if first == nil {
		return broken(V1, "it signs no entry")
	}
	return nil
}

// digest compares the inflated bytes of an entry.
func (j *jar) digest(e archive.Entry, expected []expectedDigest) error {
	if err := j.archive.Consistent(e); err != nil {
		return j.entryError(e, err)
	}
	in, err := j.archive.Open(e, j.left)
	if err != nil {
		return j.entryError(e, err)
	}
	hashes := map[crypto.Hash]io.Writer{}
	sums := make([]interface{ Sum([]byte) []byte }, len(expected))
	for i, d := range expected {
		h := d.hash.New()
		hashes[d.hash], sums[i] = h, h
	}
	n, err := io.Copy(io.MultiWriter(slices.Collect(maps.Values(hashes))...), &contextReader{j.v.ctx, in})
	j.left -= n
	if err != nil {
		return j.entryError(e, err)
	}
	if n != e.Size {
		return broken(V1, "the entry %q has another size than the archive's directory says", clip(e.Name))
	}
	for i, d := range expected {
		if !bytes.Equal(sums[i].Sum(nil), d.value) {
			return broken(V1, "the entry %q was changed after it was signed", clip(e.Name))
		}
	}
	return nil
}

// read reads a small file of META-INF.
func (j *jar) read(e archive.Entry, limit int64) ([]byte, error) {
	if err := j.v.ctx.Err(); err != nil {
		return nil, err
	}
	if err := j.archive.Consistent(e); err != nil {
		return nil, j.entryError(e, err)
	}
	raw, err := j.archive.Read(e, min(limit, j.left))
	j.left -= int64(len(raw))
	if err != nil {
		return nil, j.entryError(e, err)
	}
	return raw, nil
}

func (j *jar) entryError(e archive.Entry, err error) error {
	if cause := errors.Join(j.v.ctx.Err(), j.archive.Err()); cause != nil {
		return cause
	}
	if errors.Is(err, archive.ErrTooLarge) {
		return unsupported(V1, "the entry %q is too large to be verified", clip(e.Name))
	}
	return broken(V1, "the entry %q cannot be unpacked", clip(e.Name))
}

// contextReader ends with the context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// clip bounds a name from the package in a reason.
func clip(name string) string {
	const most = 100
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strings.ToValidUTF8(name, "?")
}
