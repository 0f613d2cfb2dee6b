package signature

import (
	"bytes"
	"slices"
)

// signer is one who signed. Members of the schemes before v3 have no range.
type signer struct {
	certificate *certificate
	low, high   int // the Android versions that it is for; v3 and v3.1
	lineage     []*certificate
	digests     []digestRecord
	content     map[contentDigest]bool // that were signed with verified signatures
	names       map[string]bool        // v1: the entries that it signed
}

// oldest is the SHA-256 of the certificate that the signer's lineage begins with.
func (s *signer) oldest() string {
	if len(s.lineage) > 0 {
		return s.lineage[0].sum()
	}
	return s.certificate.sum()
}

// digestRecord is a digest of the file as a signer signed it.
type digestRecord struct {
	id    uint32
	value []byte
}

// Ids of attributes that are signed.
const (
	attributeStripping    = 0xbeeff00d // v2: the id of a newer scheme that is there too; v3: that of v3.1
	attributeRotation     = 0x3ba06f8c // v3: the certificates since the first one
	attributeRotationFrom = 0x559f8b02 // v3: the API level from which v3.1 counts
)

// schemeIDs are the ids of schemes in attributes, and in the main section of a
// signature file of v1.
var schemeIDs = map[uint32]string{2: V2, 3: V3, 31: V31}

// scheme is the reading of one block: v2 has no versions, v3 and v3.1 have.
type scheme struct {
	v         *verification
	name      string
	versioned bool
	low, high int // of a signer without versions
}

// verifySecond verifies v2 unless no declared version would look at it: those from
// 9 on prefer v3.
func (v *verification) verifySecond() error {
	if v.declared.MinSDK >= levelPie && len(v.found) > 0 {
		return nil
	}
	s := scheme{v: v, name: V2, low: max(v.declared.MinSDK, levelNougat), high: levelEnd}
	if v.found[3] || v.found[31] {
		s.high = levelPie - 1
	}
	before := v.late
	signers, err := s.read(idV2, 2)
	if err != nil || signers == nil || v.late != before {
		return err
	}
	v.schemes[V2] = signers
	return nil
}

// verifyThird verifies v3, which all versions from 9 on prefer.
func (v *verification) verifyThird() error {
	s := scheme{v: v, name: V3, versioned: true}
	before := v.late
	signers, err := s.read(idV3, 3)
	if err != nil || signers == nil || v.late != before {
		return err
	}
	low, high := max(v.declared.MinSDK, levelPie), levelEnd
	if rotated := v.schemes[V31]; len(rotated) > 0 {
		high = rotated[0].low - 1
	}
	if low <= high {
		err = v.later(covers(V3, signers, low, high))
	}
	if err == nil && v.late == before {
		v.schemes[V3] = signers
	}
	return err
}

// verifyRotated verifies v3.1, which 13 and later prefer. It only ever stands
// beside v3.
func (v *verification) verifyRotated() error {
	s := scheme{v: v, name: V31, versioned: true}
	before := v.late
	signers, err := s.read(idV31, 31)
	if err != nil || signers == nil {
		return err
	}
	if _, ok := v.block.values[idV3]; !ok {
		return broken(V31, "there is no signature of the scheme v3 beside it")
	}
	sortSigners(signers)
	if signers[0].low < levelTiramisu {
		return broken(V31, "it is for Android API level %d, and the scheme begins with %d", signers[0].low, levelTiramisu)
	}
	if err := v.later(covers(V31, signers, max(v.declared.MinSDK, signers[0].low), levelEnd)); err != nil {
		return err
	}
	if v.late == before {
		v.schemes[V31] = signers
	}
	return nil
}

func sortSigners(signers []*signer) {
	slices.SortStableFunc(signers, func(a, b *signer) int { return a.low - b.low })
}

// covers checks that the signers are for all versions from low to high, one behind
// another, and that each one's lineage continues the one before.
func covers(scheme string, signers []*signer, low, high int) error {
	sortSigners(signers)
	for i, s := range signers {
		if i == 0 {
			continue
		}
		before := signers[i-1]
		if s.low != before.high+1 {
			return broken(scheme, "its signers are for the Android API levels %d to %d and %d to %d", before.low, before.high, s.low, s.high)
		}
		if len(s.lineage) < len(before.lineage) {
			return broken(scheme, "the history of its keys becomes shorter")
		}
		for k, c := range before.lineage {
			if !bytes.Equal(c.raw, s.lineage[k].raw) {
				return broken(scheme, "its signers have different histories of keys")
			}
		}
	}
	first, last := signers[0], signers[len(signers)-1]
	if first.low > low || last.high < high {
		return unsupported(scheme, "its signers are for the Android API levels %d to %d, and the package is for %d and later",
			first.low, last.high, low)
	}
	return nil
}

// read verifies all signers of a block, with their digests of the file; nil when
// there is no such block.
func (s scheme) read(pair uint32, id int) ([]*signer, error) {
	if s.v.block == nil {
		return nil, nil
	}
	raw, ok := s.v.block.values[pair]
	if !ok {
		return nil, nil
	}
	s.v.found[id] = true
	outer := fields{rest: raw}
	list := outer.parts()
	var signers []*signer
	for list.more() {
		if len(signers) == maxSigners {
			return nil, broken(s.name, "it has more than %d signers", maxSigners)
		}
		one, err := s.signer(list.parts())
		if err != nil {
			return nil, err
		}
		signers = append(signers, one)
	}
	if list.failed {
		return nil, broken(s.name, "its block is damaged")
	}
	if len(signers) == 0 {
		return nil, broken(s.name, "it has no signer")
	}
	return signers, s.compareDigests(signers)
}

// compareDigests computes the digests of the file that were signed, and compares
// each.
func (s scheme) compareDigests(signers []*signer) error {
	wanted := map[contentDigest]bool{}
	for _, one := range signers {
		for kind := range one.content {
			wanted[kind] = true
		}
	}
	if offset := s.v.block.offset; wanted[veritySHA256] && (offset%pageSize != 0 || (s.v.sections.directory-offset)%pageSize != 0) {
		return broken(s.name, "the signing block does not fill pages, which its digest demands")
	}
	if err := s.v.contentDigests(wanted); err != nil {
		return err
	}
	for _, one := range signers {
		for _, d := range one.digests {
			a, known := algorithms[d.id]
			if known && wanted[a.content] && !bytes.Equal(s.v.checksums[a.content], d.value) {
				return broken(s.name, "the file was changed after it was signed: its %s digest differs", a.content)
			}
		}
	}
	return nil
}

// signer verifies one signer: the signed data, its versions, signatures, its key.
func (s scheme) signer(f *fields) (*signer, error) {
	signed := f.part()
	one := &signer{low: s.low, high: s.high, content: map[contentDigest]bool{}}
	if s.versioned {
		one.low, one.high = int(int32(f.number())), int(int32(f.number()))
		if one.low < 0 || one.low > one.high {
			return nil, broken(s.name, "a signer is for the Android API levels %d to %d", one.low, one.high)
		}
	}
	records, err := s.signatures(f.parts())
	if err != nil {
		return nil, err
	}
	keyInfo := f.part()
	if f.failed {
		return nil, broken(s.name, "a signer is damaged")
	}
	chosen, err := required(s.name, records, one.low, one.high)
	if err := s.v.later(err); err != nil {
		return nil, err
	}
	public, err := parseKey(keyInfo)
	if err != nil {
		return nil, broken(s.name, "%s", err)
	}
	for _, r := range chosen {
		a := algorithms[r.id]
		if !a.verifies(public, signed, r.sig) {
			return nil, broken(s.name, "its signature by %s does not verify", a.name)
		}
		one.content[a.content] = true
	}
	return one, s.signedData(one, &fields{rest: signed}, records, keyInfo)
}

func (s scheme) signatures(list *fields) ([]signatureRecord, error) {
	var records []signatureRecord
	for list.more() {
		if len(records) == maxRecords {
			return nil, broken(s.name, "a signer has more than %d signatures", maxRecords)
		}
		one := list.parts()
		r := signatureRecord{id: one.number(), sig: one.part()}
		if one.failed {
			return nil, broken(s.name, "a signature is damaged")
		}
		records = append(records, r)
	}
	if list.failed || len(records) == 0 {
		return nil, broken(s.name, "a signer has no signatures")
	}
	return records, nil
}

// signedData reads what a signer signed: digests, certificates, for v3 the versions
// once more, and attributes.
func (s scheme) signedData(one *signer, f *fields, records []signatureRecord, keyInfo []byte) error {
	digests, certificates := f.parts(), f.parts()
	if s.versioned && (int(int32(f.number())) != one.low || int(int32(f.number())) != one.high) && !f.failed {
		return broken(s.name, "the Android versions of a signer were changed")
	}
	attributes := f.parts()
	if f.failed {
		return broken(s.name, "the signed data are damaged")
	}
	if err := s.certificates(one, certificates, keyInfo); err != nil {
		return err
	}
	for i := 0; digests.more(); i++ {
		d := digests.parts()
		r := digestRecord{id: d.number(), value: d.part()}
		if d.failed || len(one.digests) == maxRecords {
			return broken(s.name, "a digest is damaged")
		}
		one.digests = append(one.digests, r)
	}
	if !slices.EqualFunc(one.digests, records, func(d digestRecord, r signatureRecord) bool { return d.id == r.id }) {
		return broken(s.name, "its digests are not those of its signatures")
	}
	return s.attributes(one, attributes)
}

// certificates reads the signer's certificate, the first one, and checks that all
// of them are certificates.
func (s scheme) certificates(one *signer, list *fields, keyInfo []byte) error {
	for n := 0; list.more(); n++ {
		c, err := parseCertificate(list.part())
		if list.failed || n == maxRecords {
			break
		}
		if err != nil {
			return broken(s.name, "%s", err)
		}
		if one.certificate == nil {
			one.certificate = c
		}
	}
	switch {
	case list.failed || list.more():
		return broken(s.name, "its certificates are damaged")
	case one.certificate == nil:
		return broken(s.name, "it has no certificate")
	case !bytes.Equal(one.certificate.keyInfo, keyInfo):
		return broken(s.name, "its public key is not that of its certificate")
	}
	return nil
}

// attributes reads what may be signed beside the digests; unknown ones are for
// later versions.
func (s scheme) attributes(one *signer, list *fields) error {
	for n := 0; list.more(); n++ {
		attribute := list.parts()
		id := attribute.number()
		if list.failed || attribute.failed || n == maxAttributes {
			return broken(s.name, "an attribute is damaged")
		}
		switch {
		case id == attributeStripping && !s.versioned:
			other, named := schemeIDs[attribute.number()]
			if named && other == V3 && !s.v.found[3] {
				return broken(s.name, "the package was signed by the scheme v3 too, and that signature was stripped")
			}
		case id == attributeRotationFrom && s.name == V3:
			if !s.v.found[31] {
				return broken(s.name, "the package was signed by the scheme v3.1 too, and that signature was stripped")
			}
		case id == attributeRotation && s.versioned:
			var err error
			if one.lineage, err = s.lineage(attribute, one.certificate); err != nil {
				return err
			}
		}
		if attribute.failed {
			return broken(s.name, "an attribute is damaged")
		}
	}
	if list.failed {
		return broken(s.name, "its attributes are damaged")
	}
	return nil
}

// lineage reads the proof of rotation: certificates from the first one on, each
// signed by the one before. The last one is the signer's.
func (s scheme) lineage(f *fields, last *certificate) ([]*certificate, error) {
	damaged := broken(s.name, "the proof of its rotated keys is damaged")
	if f.number() != 1 || f.failed {
		return nil, damaged
	}
	var chain []*certificate
	var by uint32
	for f.more() {
		node := f.parts()
		signed := node.part()
		node.number() // what the key may still do: for the package manager
		next, sig := node.number(), node.part()
		if node.failed || len(chain) == maxLineage {
			return nil, damaged
		}
		inner := fields{rest: signed}
		raw, algorithmID := inner.part(), inner.number()
		if inner.failed {
			return nil, damaged
		}
		c, err := parseCertificate(raw)
		if err != nil {
			return nil, damaged
		}
		if len(chain) > 0 {
			a, known := algorithms[by]
			if !known || algorithmID != by || !a.verifies(chain[len(chain)-1].public, signed, sig) {
				return nil, broken(s.name, "the proof of its rotated keys does not verify")
			}
		}
		for _, earlier := range chain {
			if bytes.Equal(earlier.raw, c.raw) {
				return nil, broken(s.name, "the proof of its rotated keys has a certificate twice")
			}
		}
		chain, by = append(chain, c), next
	}
	if f.failed {
		return nil, damaged
	}
	if len(chain) == 0 || !bytes.Equal(chain[len(chain)-1].raw, last.raw) {
		return nil, broken(s.name, "the proof of its rotated keys does not end with its own")
	}
	return chain, nil
}
