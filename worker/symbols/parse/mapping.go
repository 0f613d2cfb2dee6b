package parse

import (
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
)

// readMapping reads a mapping of ProGuard or R8, or the obfuscation map of Dart.
func readMapping(in input) (*Indexed, error) {
	head := make([]byte, min(in.size, 512))
	if _, err := in.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	done := &Indexed{Features: []string{Functions, Lines}}
	var sum *proguard.Summary
	var err error
	if proguard.IsDartMap(head) {
		done.Features = []string{Names}
		sum, err = proguard.IndexDart(in.file, in.size, in.out)
	} else {
		sum, err = proguard.Index(in.file, in.size, in.out, proguard.Options{})
	}
	if err != nil {
		return nil, err
	}
	for _, id := range []string{sum.MapID, sum.MapHash} {
		if id, ok := (symbol.Identifier{Type: symbol.MappingID, Value: id}).Normalize(); ok {
			done.Facts.Identifiers = append(done.Facts.Identifiers, id)
		}
	}
	return done, nil
}
