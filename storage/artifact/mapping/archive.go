package mapping

import (
	"context"
	"errors"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// maxTexts is how many texts of an archive are tried.
const maxTexts = 8

// ReadArchive reads the mapping in a zip: mapping.txt, else the first text (.txt or
// .map) that is one. Android's tools write others beside it (seeds.txt, usage.txt,
// configuration.txt).
func ReadArchive(ctx context.Context, a *archive.Archive) (*artifact.Symbols, error) {
	a.Bind(ctx)
	failure := &artifact.InvalidError{Reason: "the archive holds neither a dSYM nor a mapping (.txt or .map)"}
	for _, e := range texts(a.Entries()) {
		s, err := readEntry(a, e)
		if failed := errors.Join(a.Err(), ctx.Err()); failed != nil {
			return nil, failed
		}
		switch {
		case err == nil:
			return s, nil
		case !errors.As(err, &failure):
			failure = &artifact.InvalidError{Reason: "the mapping in the archive cannot be read: " + err.Error()}
		}
	}
	return nil, failure
}

func readEntry(a *archive.Archive, e archive.Entry) (*artifact.Symbols, error) {
	r, err := a.Open(e, maxText)
	if err != nil {
		return nil, err
	}
	return Read(r)
}

// maxText is what a mapping may claim to inflate to; only its head is inflated.
const maxText = 1 << 40

// texts returns the entries that may be the mapping, the likeliest first.
func texts(entries []archive.Entry) []archive.Entry {
	var named, others []archive.Entry
	for _, e := range entries {
		path := strings.ToLower(strings.ReplaceAll(e.Name, `\`, "/"))
		base := path[strings.LastIndexByte(path, '/')+1:]
		switch {
		case strings.HasPrefix(path, "__macosx/"), strings.HasPrefix(base, "."):
		case base == "mapping.txt":
			named = append(named, e)
		case (strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".map")) && len(others) < maxTexts:
			others = append(others, e)
		}
	}
	named = append(named[:min(len(named), maxTexts)], others...)
	return named[:min(len(named), maxTexts)]
}
