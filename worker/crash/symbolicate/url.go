package symbolicate

import "github.com/slipway-qa/slipway/storage/symbol/sourcemap"

// scriptCandidates are the addresses under which a script may have been uploaded.
func scriptCandidates(url string) []string { return sourcemap.Candidates(url) }

// mapCandidates are those of its map.
func mapCandidates(url, mapURL string) []string { return sourcemap.MapCandidates(url, mapURL) }
