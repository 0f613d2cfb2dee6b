package parse

import (
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
)

// Version returns the version of indexes of a kind: an index of an older one is made anew.
// It is that of the index's format, and behind it a number that grows with what the
// readers of the kind find in a file.
func Version(kind symbol.Kind) int {
	const format = 1000 // readers change more often than formats
	switch kind {
	case symbol.ELF, symbol.MachO, symbol.PE, symbol.Breakpad, symbol.PDB, symbol.Wasm, symbol.PortablePDB:
		return native.Version*format + 4
	case symbol.ProGuard:
		return int(proguard.Version)*format + 1
	case symbol.SourceMap, symbol.Source:
		return sourcemap.Version*format + 1
	}
	return 0
}

// Kinds are those of symbol files.
func Kinds() []symbol.Kind {
	return []symbol.Kind{symbol.ProGuard, symbol.SourceMap, symbol.Source, symbol.Breakpad, symbol.ELF, symbol.MachO, symbol.PE, symbol.PDB,
		symbol.Wasm, symbol.PortablePDB}
}
