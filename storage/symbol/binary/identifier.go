package binary

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// normal returns an identifier in its one spelling; "" when it cannot be one.
func normal(typ symbol.IdentifierType, value string) string {
	id, ok := symbol.Identifier{Type: typ, Value: value}.Normalize()
	if !ok {
		return ""
	}
	return id.Value
}

// debugIDOf makes a debug id of a build id as Breakpad does: its first 16 bytes as a GUID,
// whose first three fields are in the file's byte order, and age 0.
func (f *File) debugIDOf(id []byte) string {
	var guid [16]byte
	copy(guid[:], id)
	if f.Order == binary.LittleEndian {
		return normal(symbol.DebugID, guidText(guid)+"0")
	}
	return normal(symbol.DebugID, hex.EncodeToString(guid[:])+"0")
}

// guidText returns a GUID that is stored in little-endian order as 32 digits.
func guidText(p [16]byte) string {
	return fmt.Sprintf("%08x%04x%04x%x", binary.LittleEndian.Uint32(p[:]), binary.LittleEndian.Uint16(p[4:]),
		binary.LittleEndian.Uint16(p[6:]), p[8:])
}

// hashText makes the debug id of a file without build id: the first page of .text, its
// blocks of 16 bytes combined by exclusive or, as Breakpad does.
func (f *File) hashText() error {
	r, size, err := f.Section(".text")
	if err != nil || size == 0 {
		return err
	}
	p, err := view{r: r, size: size}.read(0, int(min(size, hashedText)), "section .text")
	if err != nil {
		return err
	}
	var id [16]byte
	for i, b := range p {
		id[i%16] ^= b
	}
	f.DebugID = f.debugIDOf(id[:])
	return nil
}

// Identifiers lists the names by which a crash finds the file.
func (f *File) Identifiers() []symbol.Identifier {
	var ids []symbol.Identifier
	for _, id := range []symbol.Identifier{
		{Type: symbol.DebugID, Value: f.DebugID}, {Type: symbol.CodeID, Value: f.CodeID}, {Type: symbol.BuildID, Value: f.BuildID},
	} {
		if id.Value != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
