package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
)

// readSourceMap reads a source map.
func readSourceMap(in input) (*Indexed, error) {
	sum, err := sourcemap.Index(in.file, in.size, in.out, sourcemap.Options{URL: in.URL})
	if err != nil {
		return nil, err
	}
	done := &Indexed{Features: []string{Lines}, Facts: Facts{Identifiers: sum.Identifiers(), Generated: reference(sum.File)}}
	if sum.Scopes {
		done.Features = append(done.Features, Scopes)
	}
	if sum.Contents > 0 {
		done.Features = append(done.Features, Sources)
	}
	done.Facts.warn(sum.Warnings...)
	return done, nil
}

// readScript reads a script or source text. A source map within it becomes a file of its
// own.
func readScript(in input) (*Indexed, error) {
	sum, err := sourcemap.IndexScript(in.file, in.size, in.out, sourcemap.Options{URL: in.URL})
	if err != nil {
		return nil, err
	}
	done := &Indexed{Features: []string{Text}, Facts: Facts{Identifiers: sum.Identifiers(),
		SourceMap: reference(sum.SourceMappingURL), SourceURL: reference(sum.SourceURL)}}
	if len(sum.InlineMap) == 0 {
		return done, nil
	}
	digest := sha256.Sum256(sum.InlineMap)
	done.InlineMap = &Member{File: in.Out + ".map", Size: int64(len(sum.InlineMap)), SHA256: hex.EncodeToString(digest[:]),
		Format: filetype.Format(symbol.SourceMap), Slices: 1}
	done.Facts.InlineMap = true
	return done, os.WriteFile(done.InlineMap.File, sum.InlineMap, 0o600)
}

// reference returns an address that a file names, or nothing when it is longer than
// identifiers may be.
func reference(text string) string {
	const most = 2048
	if len(text) > most {
		return ""
	}
	return text
}
