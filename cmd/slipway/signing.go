package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/signing"
)

// keyPause is between two tries to compare the signing keys while the database is away.
const keyPause = time.Second

// keyCheck compares the signing keys of a process with those of the installation.
type keyCheck struct {
	db     *storage.DB
	keys   seal.Ring
	failed chan<- error // that of a comparison after the start
}

// start returns an error when the signing key is not the installation's. While the
// database cannot be reached, or has no schema, it starts a loop that goes on trying, and
// ends the process when the key is another. stop ends the loop.
//
// A scheduler without a key may start: it neither seals nor signs.
func (k keyCheck) start(ctx context.Context, tier string) (stop func(), err error) {
	if tier == "scheduler" && len(k.keys) == 0 {
		return func() {}, nil
	}
	done, err := k.compare(ctx)
	if done {
		return func() {}, err
	}
	return startLoop(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(keyPause):
			}
			done, err := k.compare(ctx)
			if !done {
				continue
			}
			if err != nil {
				k.failed <- err
			}
			return
		}
	}), nil
}

// compare reports whether the keys could be compared, with a
// *signing.MismatchError when they differ.
func (k keyCheck) compare(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err := signing.Register(ctx, k.db, k.keys)
	var mismatch *signing.MismatchError
	return err == nil || errors.As(err, &mismatch), err
}

type adminRekey struct {
	Lost bool `help:"Go on without keys that are lost: what they encrypted must be entered again."`
}

// Run encrypts all secrets anew with the current signing key.
func (c adminRekey) Run(ctx context.Context, s *settings) error {
	if s.DatabaseURL == "" || s.SigningKey == "" {
		return errors.New("slipway admin rekey needs SLIPWAY_DATABASE_URL, SLIPWAY_SIGNING_KEY and, in SLIPWAY_SIGNING_KEYS_OLD, the keys of before")
	}
	ring, err := s.ring()
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
