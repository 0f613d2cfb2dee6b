package upload

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"net/netip"
	"strconv"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// rooms bound what uploads that run at once may take of the process.
//
// Each of them holds a part buffer of the object store while it reads its form,
// and a second one when it has a symbols file: fewer uploads than buffers means
// that one of them can always go on. Organizations share the slots; the uploads
// that have not shown a key yet have one organization's share, by address.
//
// An upload without a key fills the store with bytes that may have to go again, so
// these have a room of their own, in which the addresses take turns.
type rooms struct {
	slots *admission.Room // of uploads
	bytes *admission.Room // of uploads whose key has not come
	step  int64           // bytes that are reserved together
}

func newRooms(cfg *Config) *rooms {
	return &rooms{
		slots: admission.New(admission.Config{Name: "uploads", Capacity: int64(cfg.Slots), Headroom: int64(cfg.Headroom),
			Wait: cfg.AdmissionWait, RetryAfter: busyRetry}),
		bytes: admission.New(admission.Config{Name: "upload bytes without a key", Capacity: cfg.UnauthenticatedBytes,
			Headroom: cfg.UnauthenticatedBytes / 4, Wait: cfg.AdmissionWait, RetryAfter: busyRetry}),
		step: min(maxStep, max(1, cfg.UnauthenticatedBytes/int64(cfg.Slots))),
	}
}

// maxStep is how many bytes of a body are reserved together: the length that a
// header announces is as little to be trusted as its sender.
const maxStep = 64 << 20

// permit is what one upload holds of the rooms. It is for one goroutine.
type permit struct {
	rooms    *rooms
	from     netip.Prefix
	slot     *admission.Place   // nil: none
	bytes    []*admission.Place // of an upload whose key has not come
	reserved int64              // the bytes of these
}

const (
	busyUploads = "too many uploads at once: try again later"
	busyUnknown = "too many uploads without a key at once: send the key in a header, or try again later"
	busyBytes   = "too many bytes of uploads without a key at once: send the key in a header, or try again later"
)

// callerOf is who the rooms take an upload for; nil: its key has not come.
func (p *permit) callerOf(caller *auth.Caller) admission.Caller {
	if caller == nil {
		return admission.Caller{Key: p.from.String()}
	}
	return admission.Caller{Organization: caller.OrganizationID, Key: strconv.FormatInt(caller.KeyID, 10)}
}

// acquire waits for a slot. Who waits too long is refused with 429.
func (p *permit) acquire(ctx context.Context, caller *auth.Caller) (err error) {
	p.slot, err = p.rooms.slots.Enter(ctx, p.callerOf(caller), 1)
	if caller == nil {
		return busy(err, busyUnknown)
	}
	return busy(err, busyUploads)
}

// reserveBytes makes sure that an upload without a key has reserved the n bytes that have
// arrived, and waits for them when there are none left.
func (p *permit) reserveBytes(ctx context.Context, n int64) error {
	for n > p.reserved {
		place, err := p.rooms.bytes.Enter(ctx, admission.Caller{Organization: number(p.from)}, p.rooms.step)
		if err != nil {
			return busy(err, busyBytes)
		}
		p.bytes = append(p.bytes, place)
		p.reserved += p.rooms.step
	}
	return nil
}

// number stands for an address where organizations take turns.
func number(from netip.Prefix) int64 {
	h := fnv.New64a()
	_, _ = h.Write(from.Addr().AsSlice())
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// authenticated passes the slot on to the caller's organization, and returns what only
// uploads without a key hold.
func (p *permit) authenticated(ctx context.Context, caller *auth.Caller) error {
	p.releaseBytes()
	if p.slot == nil {
		return nil
	}
	return busy(p.slot.Pass(ctx, p.callerOf(caller)), busyUploads)
}

func (p *permit) releaseBytes() {
	for _, place := range p.bytes {
		place.Leave()
	}
	p.bytes, p.reserved = nil, 0
}

// release returns everything.
func (p *permit) release() {
	p.releaseBytes()
	p.slot.Leave()
	p.slot = nil
}

// busy explains why there was no place.
func busy(err error, text string) error {
	var full *admission.FullError
	if errors.As(err, &full) {
		return problemBusy(text, full.RetryAfter)
	}
	return err
}
