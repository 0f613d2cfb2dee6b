package binary

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxEmbedded bounds a portable PDB that is embedded: that of the largest assemblies has some MiB.
const maxEmbedded = 64 << 20

// EmbeddedPDB returns the portable PDB in an assembly of .NET; nil when it has none.
// https://github.com/dotnet/runtime/blob/main/docs/design/specs/PE-COFF.md#embedded-portable-pdb-debug-directory-entry-type-17
func (f *File) EmbeddedPDB() ([]byte, error) {
	at, stored := f.embedded[0], f.embedded[1]
	if stored == 0 {
		return nil, nil
	}
	const header = 8
	head, err := f.view.read(at, header, "the embedded portable PDB")
	if err != nil {
		return nil, err
	}
	size := uint64(binary.LittleEndian.Uint32(head[4:]))
	switch {
	case string(head[:4]) != "MPDB" || stored < header:
		return nil, symbol.Invalid(symbol.Malformed, "the embedded portable PDB begins with %x, not with MPDB", head[:4])
	case size > maxEmbedded:
		return nil, symbol.Invalid(symbol.TooLarge, "the embedded portable PDB unpacks to %d MiB; %d are read at most", size>>20, maxEmbedded>>20)
	case size/zlibRatio > stored:
		return nil, symbol.Invalid(symbol.Malformed,
			"the embedded portable PDB states %d bytes, more than %d compressed ones can hold", size, stored)
	}
	packed, err := f.view.slice(at+header, stored-header, "the embedded portable PDB")
	if err != nil {
		return nil, err
	}
	in := &tracked{r: io.NewSectionReader(packed.r, 0, packed.size)}
	z := flate.NewReader(in)
	defer z.Close()
	var out bytes.Buffer
	n, err := copyStream(&out, io.LimitReader(z, int64(size)+1))
	switch {
	case err != nil:
		return nil, in.streamError("of the embedded portable PDB", err)
	case uint64(n) != size:
		return nil, symbol.Invalid(symbol.Malformed, "the embedded portable PDB states %d bytes; its stream has %s",
			size, otherSize(n, int64(size)))
	}
	return out.Bytes(), nil
}
