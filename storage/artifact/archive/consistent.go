package archive

// flagDescriptor: sizes and checksum stand behind the entry's bytes.
const flagDescriptor = 1 << 3

// Consistent checks that an entry's local header agrees with the directory, as Android
// demands of packages whose entries it verifies one by one: the same name, and the same
// sizes and checksum unless these stand behind the bytes, which end before the
// directory.
func (a *Archive) Consistent(e Entry) error {
	at, err := a.dataOffset(e)
	if err != nil {
		return err
	}
	h := make([]byte, localLength+len(e.Name))
	if _, err := a.r.ReadAt(h, e.offset); err != nil {
		return a.classify(err)
	}
	flags := le.Uint16(h[6:])
	switch {
	case int(le.Uint16(h[26:])) != len(e.Name) || string(h[localLength:]) != e.Name:
		return invalid("an entry of the archive has another name in its own header")
	case flags&flagDescriptor != e.flags&flagDescriptor:
		return invalid("an entry of the archive has another flag in its own header")
	case flags&flagDescriptor == 0 && (le.Uint32(h[14:]) != e.crc || int64(le.Uint32(h[18:])) != e.Packed ||
		int64(le.Uint32(h[22:])) != e.Size):
		return invalid("an entry of the archive has other sizes or another checksum in its own header")
	case e.Method == stored && e.Packed != e.Size:
		return invalid("an entry of the archive is not packed and has two sizes")
	case e.Packed > a.directory-at:
		return invalid("an entry of the archive reaches into its directory")
	}
	return nil
}
