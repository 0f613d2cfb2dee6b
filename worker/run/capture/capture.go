// Package capture stores what is captured while a test is played or written:
// screenshots, the source of a page, the console of a browser.
//
// Files is what one attempt has stored. A test does not fail because its screenshot
// cannot be kept: what is too large, too much, or not stored in time is left out with a
// line in the log. Objects are stored before a row names them; whoever ends the attempt
// writes the rows, or deletes the objects, and what a killed worker leaves is found by
// the sweep.
package capture

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

const (
	// maxArtifact bounds one artifact in bytes: a screenshot of a long page.
	maxArtifact = 10 << 20
	// maxTrace bounds a trace, which has those of all steps.
	maxTrace = trace.MaxBytes
	// maxFiles bounds those of an attempt: two for each of the most steps.
	maxFiles = 2000
	// artifactTimeout bounds the storing of one, so that a store that is away does
	// not delay the end of the test.
	artifactTimeout = 30 * time.Second
)

// Files are the stored artifacts of an attempt.
type Files struct {
	// Objects is where they are stored, under Key of the file's id.
	Objects object.Store
	Key     func(file uuid.UUID) string
	Log     *slog.Logger

	mu      sync.Mutex
	started int
	stored  []run.NewFile
}

// List returns what is stored so far.
func (f *Files) List() []run.NewFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.stored)
}

// Keys returns the keys of what is stored so far.
func (f *Files) Keys() []string {
	var keys []string
	for _, file := range f.List() {
		keys = append(keys, file.Key)
	}
	return keys
}

// begin reports whether one more may be stored.
func (f *Files) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started++
	return f.started <= maxFiles
}

// Capture stores an artifact and returns the file's id, "" when it is not kept: a
// test does not fail because its screenshot cannot be.
func (f *Files) Capture(ctx context.Context, a replay.Artifact) string {
	if len(a.Data) == 0 || ctx.Err() != nil || !f.begin() {
		return ""
	}
	most := maxArtifact
	if a.Kind == run.Trace {
		most = maxTrace
	}
	if len(a.Data) > most {
		f.Log.WarnContext(ctx, "artifact too large, not kept", "kind", a.Kind, "step", a.Step, "bytes", len(a.Data))
		return ""
	}
	id := uuid.New()
	file := run.NewFile{ID: id, Kind: a.Kind, Step: a.Step, Key: f.Key(id), ContentType: a.ContentType, Size: int64(len(a.Data))}
	ctx, cancel := context.WithTimeout(ctx, artifactTimeout)
	defer cancel()
	_, err := object.Put(ctx, f.Objects, file.Key, bytes.NewReader(a.Data), file.Size, object.WriteOptions{ContentType: a.ContentType})
	if err != nil {
		f.Log.WarnContext(ctx, "artifact not stored", "kind", a.Kind, "step", a.Step, "error", err)
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored = append(f.stored, file)
	return id.String()
}
