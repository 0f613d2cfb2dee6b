package token

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// quotaEntries bounds the buckets; a token whose bucket was dropped begins with
// a full one.
const quotaEntries = 10_000

// Quotas holds a token bucket for each token with a quota, in this process. A
// bucket holds the requests of one minute.
type Quotas struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[int64]*bucket
}

type bucket struct {
	perMinute int
	limiter   *rate.Limiter
	used      time.Time
}

// NewQuotas returns full buckets.
func NewQuotas(now func() time.Time) *Quotas {
	return &Quotas{now: now, buckets: map[int64]*bucket{}}
}

// Take uses up one request of a token, and returns 0, or how long it takes until the next
// one is let through.
func (q *Quotas) Take(id int64, perMinute int) time.Duration {
	now := q.now()
	reservation := q.bucket(id, perMinute, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (q *Quotas) bucket(id int64, perMinute int, now time.Time) *rate.Limiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.buckets[id]
	if b == nil || b.perMinute != perMinute {
		if len(q.buckets) >= quotaEntries {
			for old, b := range q.buckets {
				if now.Sub(b.used) > time.Minute { // full again
					delete(q.buckets, old)
				}
			}
			for old := range q.buckets {
				if len(q.buckets) < quotaEntries {
					break
				}
				delete(q.buckets, old)
			}
		}
		b = &bucket{perMinute: perMinute, limiter: rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)}
		q.buckets[id] = b
	}
	b.used = now
	return b.limiter
}
