package token

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/spanish"
)

// stemmers are by the name that a language's folder gives its stemmer.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"english": english.Stem, "german": german.Stem, "spanish": spanish.Stem, "french": french.Stem,
}

// Stem returns the folded stem of a word by a Snowball algorithm; of an unknown algorithm the
// folded word.
func Stem(word, algorithm string) string {
	stem := stemmers[algorithm]
	if stem == nil {
		return Fold(word)
	}
	env := snowballstem.NewEnv(Lower(word))
	stem(env)
	return Fold(env.Current())
}
