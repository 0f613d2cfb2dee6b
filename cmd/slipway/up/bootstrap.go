package up

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// bootstrap creates the first organization and its keys. The file is written and
// synced before the rows, so that every key that exists is in the file. The next
// start completes one that was interrupted.
func bootstrap(ctx context.Context, db *storage.DB, dir string, s *setting.Settings) (*account.Bootstrap, error) {
	path := filepath.Join(dir, "bootstrap.json")
	var boot *account.Bootstrap
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		keys, err := account.NewIssuer(s.Region, nil)
		if err != nil {
			return nil, err
		}
		if boot, err = account.NewBootstrap(keys, s.PublicURL); err != nil {
			return nil, err
		}
		if err := writeBootstrap(path, boot); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("read bootstrap file: %w", err)
	default:
		if err := json.Unmarshal(raw, &boot); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := boot.Check(s.Region); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := db.InTx(ctx, func(tx *storage.Tx) error { return crashproject.ApplyBootstrap(ctx, tx, boot, s.Region) }); err != nil {
		return nil, err
	}
	boot.BaseURL = s.PublicURL
	return boot, writeBootstrap(path, boot)
}

func writeBootstrap(path string, boot *account.Bootstrap) error {
	doc, err := json.MarshalIndent(boot, "", "  ")
	if err != nil {
		return fmt.Errorf("bootstrap file: %w", err)
	}
	return localservice.ReplaceFile(path, append(doc, '\n'), 0o600)
}
