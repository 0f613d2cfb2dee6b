package tier

import (
	"context"

	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	genstore "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/resumable"
	runstore "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// objectNames look up which objects no row names, by the prefix of their keys.
type objectNames struct{ *Services }

// files returns those of the objects of builds that no row names. Uploads in parts are asked
// first: a file goes from its upload to a build, never back, so that one that goes at this
// moment is named by the first or by the second.
func (s objectNames) files(ctx context.Context, keys []string) ([]string, error) {
	unnamed, err := resumable.Unnamed(ctx, s.DB, keys)
	if err != nil || len(unnamed) == 0 {
		return unnamed, err
	}
	return storedfile.UnnamedObjects(ctx, s.DB, unnamed)
}

// indexes returns those of the indexes of symbol files that no row names.
func (s objectNames) indexes(ctx context.Context, keys []string) ([]string, error) {
	return symbolfile.UnnamedIndexes(ctx, s.DB, keys)
}

// ofRuns returns those of the objects of runs that no row names.
func (s objectNames) ofRuns(ctx context.Context, keys []string) ([]string, error) {
	return runstore.UnnamedObjects(ctx, s.DB, keys)
}

// ofBaselines returns those of the pictures of baselines that no row names.
func (s objectNames) ofBaselines(ctx context.Context, keys []string) ([]string, error) {
	return baseline.UnnamedObjects(ctx, s.DB, keys)
}

// ofGenerations returns those of the objects of generations that no row names.
func (s objectNames) ofGenerations(ctx context.Context, keys []string) ([]string, error) {
	return genstore.UnnamedObjects(ctx, s.DB, keys)
}

// screenshots returns those of the screenshots of feedback that no row names.
func (s objectNames) screenshots(ctx context.Context, keys []string) ([]string, error) {
	return session.UnnamedScreenshots(ctx, s.DB, keys)
}

// attachments returns those of the objects of attachments that no row names.
func (s objectNames) attachments(ctx context.Context, keys []string) ([]string, error) {
	return received.UnnamedObjects(ctx, s.DB, keys)
}
