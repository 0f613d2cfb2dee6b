package tier

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage"
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
	return StartLoop(func(ctx context.Context) {
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

// CheckKeys compares the signing keys of the process with those of the installation.
func (s *Services) CheckKeys(ctx context.Context, tier string) (stop func(), err error) {
	return keyCheck{s.probe, s.keys, s.failed}.start(ctx, tier)
}
