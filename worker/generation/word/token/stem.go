package token

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers are by the name that a language's folder gives its stemmer.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"danish": danish.Stem, "dutch": dutch.Stem, "english": english.Stem, "finnish": finnish.Stem, "french": french.Stem, "german": german.Stem,
	"hungarian": hungarian.Stem, "italian": italian.Stem, "norwegian": norwegian.Stem, "portuguese": portuguese.Stem,
	"romanian": romanian.Stem,
	"spanish":  spanish.Stem, "swedish": swedish.Stem, "turkish": turkish.Stem,
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
