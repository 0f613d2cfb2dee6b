package token

import (
	"sync"
	"time"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/storage/account"
)

// guessesPerMinute is how many tokens that nobody has one address may send in a minute
// until it is refused without a look-up: an office in which many phones run an app whose
// token was revoked reaches it too, and loses nothing by it.
const guessesPerMinute = 60

// blockedFor is what an address without an allowance is told to wait, longer than until the
// next guess: most who ask have nothing new to say.
const blockedFor = 10 * time.Second

// Guesses slows addresses that send tokens which nobody has. Tokens that were valid in this
// process are looked up from any address, so that those behind a shared address keep
// working. Texts that are no keys of this service, which most made-up ones are, have an
// allowance of their own, and leave the other to keys.
type Guesses struct {
	brake *remote.Brake

	mu    sync.RWMutex
	valid map[[32]byte]struct{}
}

// NewGuesses returns a Guesses.
func NewGuesses(now func() time.Time) *Guesses {
	return &Guesses{brake: remote.NewBrake(guessesPerMinute, now), valid: map[[32]byte]struct{}{}}
}

// Wait returns 0 when the token that came from an address may be looked up, or how long the
// address must wait. Wrong or Valid must follow a look-up.
func (g *Guesses) Wait(address, text string, digest [32]byte) time.Duration {
	g.mu.RLock()
	_, valid := g.valid[digest]
	g.mu.RUnlock()
	if valid {
		return 0
	}
	if g.brake.Blocked(address, kindOf(text)) {
		return blockedFor
	}
	return 0
}

// Wrong notes that an address sent a token that nobody has.
func (g *Guesses) Wrong(address, text string) { g.brake.WaitFor(address, kindOf(text)) }

// kindOf tells texts apart that have an allowance of their own.
func kindOf(text string) string {
	if _, err := account.ParseKey(text); err != nil {
		return "text"
	}
	return "key"
}

// Valid notes that a token exists. It stays noted when it is revoked: the caches know that.
func (g *Guesses) Valid(digest [32]byte) {
	g.mu.RLock()
	_, valid := g.valid[digest]
	g.mu.RUnlock()
	if valid {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for d := range g.valid {
		if len(g.valid) < MostEntries {
			break
		}
		delete(g.valid, d)
	}
	g.valid[digest] = struct{}{}
}
