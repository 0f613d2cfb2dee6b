package intent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// sentencePair is what a test of the development set says, and its language.
type sentencePair struct {
	Name, Lang, Page string
	Sentences        []string
}

// development returns the sentences that were written before this grammar by people who had
// not seen it.
func development(t testing.TB) []sentencePair {
	t.Helper()
	base := filepath.Join("..", "..", "..", "cmd", "localservice", "servicetest", "sentence")
	files, err := filepath.Glob(filepath.Join(base, "foreign", "*", "open", "pairs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob(filepath.Join(base, "pairs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sentencePair
	for _, f := range append(files, own...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list []sentencePair
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		t.Skip("no sentences here")
	}
	return all
}

// TestDevelopment reads all sentences and, where SLIPWAY_READINGS names a file, writes what
// was read there.
func TestDevelopment(t *testing.T) {
	var out *os.File
	if name := os.Getenv("SLIPWAY_READINGS"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	whole, count := map[string]int{}, map[string]int{}
	for _, p := range development(t) {
		for _, s := range p.Sentences {
			lang := p.Lang
			if lang == "" {
				lang = Read(s).Lang
				p.Page = "own"
			}
			read := ReadIn(s, lang)
			key := lang
			if p.Page == "own" {
				key = "own-" + lang
			}
			count[key]++
			best, left := "NOTHING", ""
			if len(read.Readings) > 0 {
				best, left = read.Readings[0].String(), read.Readings[0].Left(s)
			}
			if len(read.Readings) > 0 && left == "" {
				whole[key]++
			}
			if out != nil {
				fmt.Fprintf(out, "%s %s\n   %s\n", lang, s, best)
				for i := 1; i < len(read.Readings); i++ {
					fmt.Fprintf(out, " %d %s\n", i+1, read.Readings[i])
				}
				if left != "" {
					fmt.Fprintf(out, " ? %s\n", left)
				}
			}
		}
	}
	for key, n := range count {
		t.Logf("%s: %d of %d read whole", key, whole[key], n)
	}
}
