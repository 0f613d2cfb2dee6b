package run

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const (
	// maxArtifact bounds one artifact in bytes: a screenshot of a long page.
	maxArtifact = 10 << 20
	// maxFiles bounds those of a job: two for each of the most steps.
	maxFiles = 2000
	// artifactTimeout bounds the storing of one, so that a store that is away does
	// not delay the end of the test.
	artifactTimeout = 30 * time.Second
)

// files are the stored artifacts of a job.
type files struct {
	mu      sync.Mutex
	started int
	stored  []store.NewFile
}

func (f *files) list() []store.NewFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.stored)
}

func (f *files) keys() []string {
	var keys []string
	for _, file := range f.list() {
		keys = append(keys, file.Key)
	}
	return keys
}

// begin reports whether one more may be stored.
func (f *files) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started++
	return f.started <= maxFiles
}

// capture stores an artifact and returns the file's id, "" when it is not kept: a
// test does not fail because its screenshot cannot be.
func (p *execution) capture(ctx context.Context, a replay.Artifact) string {
	if len(a.Data) == 0 || ctx.Err() != nil || !p.files.begin() {
		return ""
	}
	if len(a.Data) > maxArtifact {
		p.Log.WarnContext(ctx, "artifact too large, not kept", "kind", a.Kind, "step", a.Step, "bytes", len(a.Data))
		return ""
	}
	id := uuid.New()
	file := store.NewFile{ID: id, Kind: a.Kind, Step: a.Step, Key: store.FileKey(p.id, id),
		ContentType: a.ContentType, Size: int64(len(a.Data))}
	ctx, cancel := context.WithTimeout(ctx, artifactTimeout)
	defer cancel()
	_, err := object.Put(ctx, p.Objects, file.Key, bytes.NewReader(a.Data), file.Size, object.WriteOptions{ContentType: a.ContentType})
	if err != nil {
		p.Log.WarnContext(ctx, "artifact not stored", "kind", a.Kind, "step", a.Step, "error", err)
		return ""
	}
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	p.files.stored = append(p.files.stored, file)
	return id.String()
}
