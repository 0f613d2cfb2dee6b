package intent

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	f := os.Getenv("FILE")
	if f == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(f)
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		lang, s, _ := strings.Cut(l, "|")
		tx := ReadIn(s, lang)
		d := Read(s).Lang
		x := ""
		if d != lang {
			x = " DETECT " + d
		}
		fmt.Println(lang, s, x)
		if len(tx.Readings) > 0 {
			fmt.Println("   ", tx.Readings[0])
			if l := tx.Readings[0].Left(s); l != "" {
				fmt.Println(" ?", l)
			}
		}
	}
}
