package parse

import (
	"context"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/engine"
	"github.com/slipway-qa/slipway/worker/symbols/minidump"
	"github.com/slipway-qa/slipway/worker/symbols/plcrash"
)

// DumpArgs name a crash dump. The result of the operation is a dump.Dump.
type DumpArgs struct {
	Path string `json:"path"`
	// Format is "minidump", "plcrash", "unreal" or "unity", as the one who sent it says.
	Format string `json:"format"`
}

// readDump is the operation.
func readDump(_ context.Context, args DumpArgs) (*dump.Dump, error) {
	f, size, err := open(args.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch args.Format {
	case "minidump":
		return minidump.Read(f, size)
	case "plcrash":
		return plcrash.Read(f, size)
	case engine.Unreal, engine.Unity:
		return engine.Read(f, size)
	}
	return nil, symbol.Invalid(symbol.Unsupported, "dumps of the format %q are not read", args.Format)
}
