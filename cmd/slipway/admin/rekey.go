package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/signing"
)

type rekey struct {
	Lost bool `help:"Go on without keys that are lost: what they encrypted must be entered again."`
}

// Run encrypts all secrets anew with the current signing key.
func (c rekey) Run(ctx context.Context, s *setting.Settings) error {
	if s.DatabaseURL == "" || s.SigningKey == "" {
		return errors.New("slipway admin rekey needs SLIPWAY_DATABASE_URL, SLIPWAY_SIGNING_KEY and, in SLIPWAY_SIGNING_KEYS_OLD, the keys of before")
	}
	ring, err := s.Ring()
	if err != nil {
		return err
	}
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 2, ApplicationName: "slipway-admin"})
	if err != nil {
		return err
	}
	defer db.Close()
	report, err := signing.Rekey(ctx, db, signing.Rekeying{Ring: ring, Lost: c.Lost, LinkAge: object.MaxLinkAge,
		Progress: func(n signing.Sealed) {
			fmt.Fprintf(os.Stderr, "%s: %d encrypted anew, %d unreadable\n", n.Kind, n.Rekeyed, n.Unreadable)
		}})
	if err != nil {
		return storage.Plain(err)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}
