package tagger

import (
	"os"
	"testing"
)

// mostWeights is how many bytes the weights may have: they are part of the program.
const mostWeights = 3_000_000

// The weights are small, and those of the texts that stand beside them.
func TestWeights(t *testing.T) {
	t.Parallel()
	if len(weights) > mostWeights {
		t.Errorf("weights.gz has %d bytes, more than %d", len(weights), mostWeights)
	}
	samples, err := Corpus(os.DirFS("corpus"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Default().Digest(), Digest(samples); got != want {
		t.Errorf("weights.gz is of other texts than those of corpus: run make weights")
	}
}
