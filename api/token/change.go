package token

import (
	"encoding/hex"

	"github.com/slipway-qa/slipway/storage"
)

// Forgetter is a Cache that forgets.
type Forgetter interface {
	forget(digest *[32]byte)
	setNotified(yes bool)
}

// Changes returns what a storage.Listener calls when tokens ended or changed, so that
// the caches forget them.
func Changes(caches ...Forgetter) storage.Listening {
	each := func(fn func(Forgetter)) {
		for _, c := range caches {
			fn(c)
		}
	}
	return storage.Listening{Channel: storage.TokenChannel,
		Received: func(payload string) {
			var digest [32]byte
			which := &digest
			if n, err := hex.Decode(digest[:], []byte(payload[:min(len(payload), 2*len(digest))])); err != nil || n != len(digest) {
				which = nil // of another version
			}
			each(func(c Forgetter) { c.forget(which) })
		},
		Connected: func() { each(func(c Forgetter) { c.setNotified(true) }) },
		Lost:      func(string) { each(func(c Forgetter) { c.setNotified(false) }) },
	}
}

// ForgetAll has the caches forget every token: for the process in which one ended.
func ForgetAll(caches ...Forgetter) {
	for _, c := range caches {
		c.forget(nil)
	}
}
