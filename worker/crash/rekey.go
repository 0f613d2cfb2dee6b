package crash

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
)

// Rekey is the handler of crash:rekey. After an upgrade to a newer version of the
// algorithm it looks at each key of an older one: the newest of its stored reports are
// read and their keys are computed anew. Where all agree, the group gets that key too,
// and what is reported from now on stays with it. Where they do not, the old group held
// several bugs: it keeps what it has, and new reports make new groups.
//
// Organizations have turns of some keys each. A key is one transaction that checks the
// claim and notes that the key was looked at; after a kill the next attempt continues
// with those that were not. There is nothing to do, and no task, once all are.
type Rekey struct {
	store   *crash.Store
	version int
	compute func(*report.Report) fingerprint.Result
	now     func() time.Time
}

// NewRekey returns the handler.
func NewRekey(store *crash.Store) *Rekey {
	return &Rekey{store: store, version: fingerprint.Version, compute: fingerprint.Compute, now: time.Now}
}

// RekeyResult is the task's result.
type RekeyResult struct {
	Keys   int `json:"keys"`   // that were looked at
	Joined int `json:"joined"` // groups that got the newer key
	Merged int `json:"merged"` // of these, by taking in the group that had it
}

const (
	// rekeyTurn keys of an organization are looked at before the next one's.
	rekeyTurn = 20
	// rekeyReports of a key are read: more seldom change the decision, and each may stand
	// in a batch of its own, which must be inflated.
	rekeyReports = 20
	// rekeyTime bounds one task; the next one continues.
	rekeyTime = 10 * time.Minute
)

// Pending implements worker.Prober.
func (r *Rekey) Pending(ctx context.Context) (bool, error) {
	return crash.HasOldKeys(ctx, r.store.DB(), r.version)
}

// Handle looks at old keys until there are none, or its time is over.
func (r *Rekey) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum RekeyResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	until, after := r.now().Add(rekeyTime), int64(0)
	for r.now().Before(until) {
		keys, err := crash.OldKeys(ctx, r.store.DB(), r.version, after, rekeyTurn)
		if err != nil {
			return err
		}
		if len(keys) == 0 && after == 0 {
			break
		}
		after = 0 // the organizations begin anew
		for _, key := range keys {
			after = key.OrganizationID
			if sum, err = r.look(ctx, claim, key, sum); err != nil {
				return err
			}
		}
	}
	return claim.Finish(ctx, sum, nil)
}

// look looks at one key and returns the sum with it.
func (r *Rekey) look(ctx context.Context, claim *worker.Claim, key crash.OldKey, sum RekeyResult) (RekeyResult, error) {
	newer, err := r.agreed(ctx, key)
	if err != nil {
		return sum, err
	}
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		done, err := crash.Rekey(ctx, tx, key, r.version, newer)
		if err != nil {
			return err
		}
		sum.Keys++
		if done.Joined {
			sum.Joined++
		}
		if done.Merged {
			sum.Merged++
		}
		return claim.SaveProgress(ctx, tx, sum)
	})
	return sum, err
}

// agreed returns the key that all of the newest readable reports of an old key have; nil
// when they differ, or none is left. Those that cannot be read, because their batch is broken
// or gone, are left out.
func (r *Rekey) agreed(ctx context.Context, key crash.OldKey) (*[32]byte, error) {
	ids, err := crash.NewestOfKey(ctx, r.store.DB(), key.OrganizationID, key.ID, rekeyReports)
	if err != nil {
		return nil, err
	}
	stored, err := r.store.Symbolications(ctx, key.OrganizationID, ids)
	if err != nil {
		return nil, err
	}
	var agreed *[32]byte
	// Some batches at a time: inflated they are large.
	err = r.store.EachBatch(ctx, key.OrganizationID, ids, func(b *received.Batch, ids []uuid.UUID) error {
		for _, id := range ids {
			_, entry := received.SplitID(id)
			doc, err := b.Document(entry)
			if err != nil {
				continue
			}
			compute := r.compute
			if of := b.Libraries[b.Entries[entry].ProjectID]; len(of) > 0 {
				compute = fingerprint.NewLibraries(of).Compute
			}
			result, ok := keyOf(doc, stored[id], compute)
			if !ok {
				continue
			}
			if result.Given || agreed != nil && *agreed != result.Key {
				return errDisagree
			}
			agreed = &result.Key
		}
		return nil
	})
	if errors.Is(err, errDisagree) {
		return nil, nil
	}
	return agreed, err
}

// errDisagree: two reports of a key have different ones now.
var errDisagree = errors.New("the reports have different keys")

// keyOf computes the key of one report, with the frames that symbols gave it. A report that
// breaks a rule of the algorithm must not end the task for all others.
func keyOf(doc []byte, stored *crash.Symbolication, compute func(*report.Report) fingerprint.Result) (result fingerprint.Result, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if stored != nil && stored.Report != nil {
		doc = stored.Report
	}
	p, err := report.Parse(doc)
	if err != nil {
		return result, false
	}
	p, lacking := appliedReport(p, stored)
	result = compute(p)
	if lacking != nil {
		result.Bind(lacking)
	}
	return result, true
}
