package setting

import (
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// symbolSettings are those of symbol files and their use.
type symbolSettings struct {
	SymbolCacheBytes  int64  `env:"SLIPWAY_SYMBOL_CACHE_BYTES" default:"268435456" help:"Memory of a worker for the symbols that crashes need, in bytes."`
	SymbolReaders     int    `env:"SLIPWAY_SYMBOL_READERS" default:"2" help:"Child processes of a worker that read symbol files, at most; as many read crash dumps."`
	SymbolReaderBytes int64  `env:"SLIPWAY_SYMBOL_READER_BYTES" default:"805306368" help:"Memory of each of these processes, in bytes. A file that needs more cannot be read."`
	PackageReaders    int    `env:"SLIPWAY_PACKAGE_READERS" default:"4" help:"Uploaded packages that an api reads at once, each in a child process of at most 64 MiB."`
	SymbolFolder      string `env:"SLIPWAY_SYMBOL_FOLDER" type:"path" help:"Folder for temporary files of symbol files, on a disk with room for several of the largest ones; default: the system's."`
}

const (
	minSymbolCache = library.MinBytes
	// minSymbolReader leaves room for the program itself: one of Go begins with some tens of
	// MiB of private memory.
	minSymbolReader = 256 << 20
)
