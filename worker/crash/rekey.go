package crash

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
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
// when they differ, or none is left.
func (r *Rekey) agreed(ctx context.Context, key crash.OldKey) (*[32]byte, error) {
	ids, err := crash.NewestOfKey(ctx, r.store.DB(), key.OrganizationID, key.ID, rekeyReports)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	var agreed *[32]byte
	for len(ids) > 0 {
		batch, _ := crash.SplitID(ids[0])
		n := 1
		for n < len(ids) {
			if b, _ := crash.SplitID(ids[n]); b != batch {
				break
			}
			n++
		}
		// One batch at a time: inflated they are large.
		keys, err := r.keysOf(ctx, key.OrganizationID, batch, ids[:n])
		if err != nil {
			return nil, err
		}
		for i := range keys {
			if keys[i].Given || agreed != nil && *agreed != keys[i].Key {
				return nil, nil
			}
			agreed = &keys[i].Key
		}
		ids = ids[n:]
	}
	return agreed, nil
}

// keysOf computes the keys of crashes of one batch; those that cannot be read, because
// the batch is broken or gone, are left out.
func (r *Rekey) keysOf(ctx context.Context, organization int64, batch uuid.UUID, ids []uuid.UUID) ([]fingerprint.Result, error) {
	batches, err := r.store.Batches(ctx, []uuid.UUID{batch})
	if err != nil || len(batches) == 0 || batches[0].OrganizationID != organization {
		return nil, err
	}
	stored, err := r.store.Symbolications(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	var results []fingerprint.Result
	for _, id := range ids {
		_, entry := crash.SplitID(id)
		doc, err := batches[0].Document(entry)
		if err != nil {
			continue
		}
		if result, ok := r.keyOf(doc, stored[id]); ok {
			results = append(results, result)
		}
	}
	return results, nil
}

// keyOf computes the key of one report, with the frames that symbols gave it. A report that
// breaks a rule of the algorithm must not end the task for all others.
func (r *Rekey) keyOf(doc []byte, stored *crash.Symbolication) (result fingerprint.Result, ok bool) {
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
	result = r.compute(p)
	if lacking != nil {
		result.Bind(lacking)
	}
	return result, true
}
