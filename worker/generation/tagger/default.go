package tagger

import (
	"bytes"
	_ "embed" // the weights
	"sync"
)

//go:embed weights.gz
var weights []byte

// Default returns the tagger that was trained on the corpus of this folder (cmd/train).
var Default = sync.OnceValue(func() *Tagger {
	t, err := Read(bytes.NewReader(weights))
	if err != nil {
		panic("tagger: " + err.Error()) // data of our own, held by a test
	}
	return t
})
