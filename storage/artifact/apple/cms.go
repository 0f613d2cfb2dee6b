package apple

import "errors"

var errCMS = errors.New("its envelope is no signed data (CMS)")

// cmsDepth bounds how deep elements of unknown length may be nested: each such
// level is walked over once more.
const cmsDepth = 16

// oidSignedData is 1.2.840.113549.1.7.2 in its DER form.
const oidSignedData = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"

// Tags of ASN.1 that enclose the content.
const (
	tagOctets            = 0x04
	tagOID               = 0x06
	tagOctetsConstructed = 0x24
	tagSequence          = 0x30
	tagExplicit0         = 0xa0
)

// signedContent returns the content of a signed message (RFC 5652, section 5):
//
//	SEQUENCE { OID signedData, [0] SEQUENCE { version, digests,
//	    SEQUENCE { OID, [0] OCTET STRING content }, ... } }
//
// The signature is not verified. The common library for CMS is not used here
// because it parses everything around the content too, certificates included, by
// recursion without a bound, so that a hostile file can crash the process.
func signedContent(raw []byte) ([]byte, error) {
	message, err := child(raw, tagSequence)
	if err != nil {
		return nil, err
	}
	kind, err := readElement(message)
	if err != nil || kind.tag != tagOID || string(kind.body) != oidSignedData {
		return nil, errCMS
	}
	wrapped, err := child(kind.rest, tagExplicit0)
	if err != nil {
		return nil, err
	}
	signed, err := child(wrapped, tagSequence)
	if err != nil {
		return nil, err
	}
	for range 2 { // version, digest algorithms
		e, err := readElement(signed)
		if err != nil {
			return nil, err
		}
		signed = e.rest
	}
	info, err := child(signed, tagSequence)
	if err != nil {
		return nil, err
	}
	if kind, err = readElement(info); err != nil {
		return nil, err
	}
	if wrapped, err = child(kind.rest, tagExplicit0); err != nil {
		return nil, err
	}
	return octets(wrapped)
}

// octets returns an octet string that may consist of pieces.
func octets(raw []byte) ([]byte, error) {
	e, err := readElement(raw)
	switch {
	case err != nil:
		return nil, err
	case e.tag == tagOctets:
		return e.body, nil
	case e.tag != tagOctetsConstructed:
		return nil, errCMS
	}
	var content []byte
	for pieces := e.body; len(pieces) > 0; pieces = e.rest {
		if e, err = readElement(pieces); err != nil || e.tag != tagOctets {
			return nil, errCMS
		}
		content = append(content, e.body...)
	}
	return content, nil
}

// child returns the body of the first element, which must have the tag.
func child(raw []byte, tag byte) ([]byte, error) {
	e, err := readElement(raw)
	if err != nil || e.tag != tag {
		return nil, errCMS
	}
	return e.body, nil
}

// element is one element of BER and what follows it.
type element struct {
	tag        byte
	body, rest []byte
}

// readElement reads the element at the start of raw.
func readElement(raw []byte) (element, error) {
	head, length, err := header(raw)
	if err != nil {
		return element{}, err
	}
	if length >= 0 {
		return element{raw[0], raw[head : head+length], raw[head+length:]}, nil
	}
	n, err := untilEnd(raw[head:], cmsDepth)
	if err != nil {
		return element{}, err
	}
	return element{raw[0], raw[head : head+n-2], raw[head+n:]}, nil
}

// header returns the size of an element's header and the length of its body, which
// raw contains; -1 for a body that ends with an end mark.
func header(raw []byte) (head, length int, err error) {
	if len(raw) < 2 || raw[0]&0x1f == 0x1f { // CMS has no long tags
		return 0, 0, errCMS
	}
	head, length = 2, int(raw[1])
	switch {
	case raw[1] == 0x80:
		if raw[0]&0x20 == 0 {
			return 0, 0, errCMS
		}
		return head, -1, nil
	case raw[1] > 0x80:
		n := int(raw[1] & 0x7f)
		if n > 4 || len(raw) < head+n {
			return 0, 0, errCMS
		}
		length = int(number(raw[head:], n))
		head += n
	}
	if length > len(raw)-head {
		return 0, 0, errCMS
	}
	return head, length, nil
}

// untilEnd returns how many bytes the elements up to the end mark have, including
// it.
func untilEnd(raw []byte, depth int) (int, error) {
	if depth == 0 {
		return 0, errCMS
	}
	for n := 0; ; {
		if len(raw)-n >= 2 && raw[n] == 0 && raw[n+1] == 0 {
			return n + 2, nil
		}
		head, length, err := header(raw[n:])
		if err != nil {
			return 0, err
		}
		if n += head; length < 0 {
			if length, err = untilEnd(raw[n:], depth-1); err != nil {
				return 0, err
			}
		}
		n += length
	}
}
