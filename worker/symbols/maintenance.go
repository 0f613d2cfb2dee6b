package symbols

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// Maintenance is the handler of symbol:maintenance.
type Maintenance struct {
	DB     *storage.DB
	Folder string // of temporary files, as that of Index
	Now    func() time.Time
	Log    *slog.Logger
}

// MaintenanceResult is the task's result.
type MaintenanceResult struct {
	Outdated int `json:"outdated"` // uploads whose indexes are of an older version: they have a task now
	Waiting  int `json:"waiting"`  // uploads without a task: they have one now
	Failed   int `json:"failed"`   // uploads whose task died
	Folders  int `json:"folders"`  // of killed workers, removed
}

const (
	// anewEach uploads of an organization are indexed anew after a round: as many as take
	// some minutes, so that one with very many keeps no other waiting.
	anewEach = 20
	// waitingAge protects what a request is about to insert the task of.
	waitingAge = time.Minute
	// waitingStep uploads are read at a time.
	waitingStep = 200
	// folderAge is longer than a task may take.
	folderAge = 24 * time.Hour
)

// Handle has done anew what is old, and finished what waits.
func (m *Maintenance) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum MaintenanceResult
	versions := map[symbol.Kind]int{}
	for _, kind := range parse.Kinds() {
		versions[kind] = parse.Version(kind)
	}
	outdated, err := symbolfile.OutdatedUploads(ctx, m.DB, versions, anewEach)
	if err != nil {
		return err
	}
	for _, u := range outdated {
		made, err := m.insert(ctx, claim, u)
		if err != nil {
			return err
		}
		sum.Outdated += made
	}
	if err := m.waiting(ctx, claim, &sum); err != nil {
		return err
	}
	sum.Folders = m.removeFolders(ctx)
	return claim.Finish(ctx, sum, nil)
}

// insert inserts a task that indexes an upload, behind what people wait for.
func (m *Maintenance) insert(ctx context.Context, claim *worker.Claim, u symbolfile.Outdated) (made int, err error) {
	task := tasks.NewSymbolIndex(u.OrganizationID, "", u.ID, u.SHA256)
	task.Queue = tasks.Bulk
	if task.ID, err = uuid.NewV7(); err != nil {
		return 0, err
	}
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		set, err := symbolfile.SetTask(ctx, tx, u.ID, task.ID)
		if err != nil || !set {
			return err
		}
		made = 1
		_, err = ledger.Insert(ctx, tx, task)
		return err
	})
	return made, err
}

// waiting gives uploads without a task one, and fails those whose task died: its attempts
// are over, and a person may have them indexed again.
func (m *Maintenance) waiting(ctx context.Context, claim *worker.Claim, sum *MaintenanceResult) error {
	for after := int64(0); ; {
		list, err := symbolfile.WaitingUploads(ctx, m.DB, after, m.Now().Add(-waitingAge), waitingStep)
		if err != nil {
			return err
		}
		for _, u := range list {
			after = u.ID
			if u.Task == string(ledger.Dead) || u.Task == string(ledger.Cancelled) {
				err := symbolfile.Fail(ctx, m.DB, u.ID, symbol.Internal, "the task that was to read this file was "+u.Task+"; have it indexed again")
				if err != nil {
					return err
				}
				sum.Failed++
				continue
			}
			made, err := m.insert(ctx, claim, u)
			if err != nil {
				return err
			}
			sum.Waiting += made
		}
		if len(list) < waitingStep {
			return nil
		}
	}
}

// removeFolders removes what killed workers left on this machine.
func (m *Maintenance) removeFolders(ctx context.Context) (removed int) {
	folder := m.Folder
	if folder == "" {
		folder = os.TempDir()
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		m.Log.WarnContext(ctx, "temporary files not removed", "error", err)
		return 0
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), folderPattern) || m.Now().Sub(info.ModTime()) < folderAge {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			m.Log.WarnContext(ctx, "temporary files not removed", "error", err)
			continue
		}
		removed++
	}
	return removed
}
