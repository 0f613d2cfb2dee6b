package upload

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"
)

// admission bounds what uploads that run at once may take of the process.
//
// Each of them holds a part buffer of the object store while it reads its form,
// and a second one when it has a symbols file: fewer uploads than buffers means
// that one of them can always go on. An upload that has not shown a key yet fills
// the store with bytes that may have to go again, so these have quotas of their
// own (reservations), and a least rate (minimumRate).
type admission struct {
	slots           *semaphore.Weighted
	unauthenticated *reservations
	step            int64 // bytes that are reserved at once
	wait            time.Duration
}

func newAdmission(cfg *Config) *admission {
	return &admission{
		slots:           semaphore.NewWeighted(int64(cfg.Slots)),
		unauthenticated: newReservations(quota{cfg.UnauthenticatedSlots, cfg.UnauthenticatedBytes}, cfg.perAddress()),
		step:            min(maxStep, max(1, cfg.UnauthenticatedBytes/int64(cfg.UnauthenticatedSlots))),
		wait:            cfg.AdmissionWait,
	}
}

// maxStep is how many bytes of a body are reserved at once: the length that a
// header announces is as little to be trusted as its sender.
const maxStep = 64 << 20

// permit is what one upload holds of the admission. It is for one goroutine.
type permit struct {
	admission *admission
	from      netip.Prefix
	slot      bool
	reserved  quota // zero for an authenticated upload
}

const (
	busyUploads = "too many uploads without a key at once: send the key in a header, or try again later"
	busyBytes   = "too many bytes of uploads without a key at once: send the key in a header, or try again later"
)

// acquire waits for a slot; a permit that has one keeps it. authenticated is false
// as long as the key has not come. Who waits too long is refused with 429.
func (p *permit) acquire(ctx context.Context, authenticated bool) error {
	if p.slot {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.admission.wait)
	defer cancel()
	if !authenticated {
		first := quota{1, p.admission.step}
		if !p.admission.unauthenticated.reserve(ctx, p.from, first) {
			return problemBusy(busyUploads)
		}
		p.reserved = first
	}
	if p.admission.slots.Acquire(ctx, 1) != nil {
		return problemBusy("too many uploads at once: try again later")
	}
	p.slot = true
	return nil
}

// reserveBytes makes sure that an unauthenticated upload has reserved the n bytes
// that have arrived, and waits for them when there are none left.
func (p *permit) reserveBytes(ctx context.Context, n int64) error {
	for p.reserved.uploads > 0 && n > p.reserved.bytes {
		// The last step of the largest upload may be a short one.
		step := min(p.admission.step, p.admission.unauthenticated.perAddress.bytes-p.reserved.bytes)
		if step <= 0 || !p.reserveStep(ctx, step) {
			return problemBusy(busyBytes)
		}
	}
	return nil
}

func (p *permit) reserveStep(ctx context.Context, bytes int64) bool {
	ctx, cancel := context.WithTimeout(ctx, p.admission.wait)
	defer cancel()
	if !p.admission.unauthenticated.reserve(ctx, p.from, quota{bytes: bytes}) {
		return false
	}
	p.reserved.bytes += bytes
	return true
}

// authenticated returns back what only unauthenticated uploads hold.
func (p *permit) authenticated() {
	if p.reserved != (quota{}) {
		p.admission.unauthenticated.release(p.from, p.reserved)
		p.reserved = quota{}
	}
}

// release returns everything back.
func (p *permit) release() {
	p.authenticated()
	if p.slot {
		p.admission.slots.Release(1)
		p.slot = false
	}
}
