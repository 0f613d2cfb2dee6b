// Package baseline reads what looks and findings of a test are compared with, and keeps the
// pictures that people may accept.
//
// Both are asked for by the steps that need them, so that tests without such steps cost no
// statement. A picture is stored as an object at once, and its row is written with the end of
// the job (Store), as the files of a job are: until then nothing names it, and what a killed
// worker leaves is found by the sweep.
package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const (
	// transferTimeout bounds the reading or storing of one picture.
	transferTimeout = 30 * time.Second
	// maxCandidates bounds the pictures of a job that are kept.
	maxCandidates = 200
)

// Shelf has the baselines of the case of a job.
type Shelf struct {
	DB             *storage.DB
	Objects        object.Store
	Log            *slog.Logger
	OrganizationID int64
	CaseID         string
	RunID          uuid.UUID
	// Environment is the name of the one that the run is in; "" for none. Each has baselines
	// of its own: what staging shows is not what production shows.
	Environment string

	mu   sync.Mutex
	kept []store.New
}

// Looks is the shelf as steps use it.
func (s *Shelf) Looks() *replay.Looks {
	return &replay.Looks{Baseline: s.baseline, Keep: s.keep, Accepted: s.accepted}
}

func (s *Shelf) place(stepID, name string, on looks.Rendering) store.Place {
	target := on.Key()
	if s.Environment != "" {
		target += "/" + s.Environment
	}
	return store.Place{CaseID: s.CaseID, StepID: stepID, Name: name, Target: target}
}

func (s *Shelf) baseline(ctx context.Context, stepID, name string, on looks.Rendering) (*looks.Baseline, error) {
	row, err := store.Current(ctx, s.DB, s.place(stepID, name, on))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := s.read(ctx, row)
	if err != nil {
		return nil, err
	}
	picture, err := looks.Read(data)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", row.ID, err)
	}
	return &looks.Baseline{ID: row.ID.String(), State: string(row.State), Version: row.BrowserVersion, Fonts: row.Fonts, Picture: picture}, nil
}

func (s *Shelf) read(ctx context.Context, row *store.Baseline) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	r, _, err := s.Objects.Open(ctx, row.Key, 0, looks.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("picture of baseline %s: %w", row.ID, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, looks.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("picture of baseline %s: %w", row.ID, err)
	}
	return data, nil
}

func (s *Shelf) accepted(ctx context.Context) (map[string]bool, error) {
	return store.AcceptedKeys(ctx, s.DB, s.CaseID)
}

func (s *Shelf) keep(ctx context.Context, c looks.Candidate) (string, error) {
	at := s.place(c.StepID, c.Name, c.Rendering)
	id := store.ID(at, c.Digest)
	n := store.New{Place: at, BrowserVersion: c.Rendering.Version, Fonts: c.Rendering.Fonts, Digest: c.Digest,
		Width: c.Width, Height: c.Height,
		Key: store.NewKey(id), Size: int64(len(c.Data))}
	s.mu.Lock()
	full := len(s.kept) >= maxCandidates
	s.mu.Unlock()
	if full {
		return "", fmt.Errorf("more than %d pictures of one test cannot be kept", maxCandidates)
	}
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	if _, err := object.Put(ctx, s.Objects, n.Key, bytes.NewReader(c.Data), n.Size,
		object.WriteOptions{ContentType: "image/png"}); err != nil {
		return "", fmt.Errorf("store a picture: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, n)
	return id.String(), nil
}

// Keys returns the keys of the pictures that are kept.
func (s *Shelf) Keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.kept {
		keys = append(keys, n.Key)
	}
	return keys
}

// Store writes the rows of the pictures, in the transaction that ends the job. It returns the
// keys of objects that no row names then.
func (s *Shelf) Store(ctx context.Context, tx *storage.Tx) (unnamed []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Store(ctx, tx, s.OrganizationID, s.CaseID, s.RunID, s.kept)
}
