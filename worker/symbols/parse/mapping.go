package parse

import (
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
)

// readMapping reads a mapping of ProGuard or R8.
func readMapping(in input) (*Indexed, error) {
	sum, err := proguard.Index(in.file, in.size, in.out, proguard.Options{})
	if err != nil {
		return nil, err
	}
	done := &Indexed{Features: []string{Functions, Lines}}
	for _, id := range []string{sum.MapID, sum.MapHash} {
		if id, ok := (symbol.Identifier{Type: symbol.MappingID, Value: id}).Normalize(); ok {
			done.Facts.Identifiers = append(done.Facts.Identifiers, id)
		}
	}
	return done, nil
}
