package intent

import (
	"fmt"
	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
	"os"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	if os.Getenv("W") == "" {
		t.Skip()
	}
	l := lexicon.Language(os.Getenv("L"))
	for _, w := range strings.Split(os.Getenv("W"), ",") {
		for _, v := range l.Verbs(w) {
			fmt.Println(w, "VERB", v.Lemma, v.Form, v.Effect, v.Particle, v.Property, v.Joined, v.Clitics)
		}
		for _, e := range l.Entries(w) {
			fmt.Println(w, e.Class, e.Name, e.Names, e.Form, e.Lemma)
		}
	}
}
