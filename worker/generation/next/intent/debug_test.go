package intent

import (
	"fmt"
	"os"
	"testing"
)

func TestDebug(t *testing.T) {
	s := os.Getenv("SENT")
	if s == "" {
		t.Skip()
	}
	lang := os.Getenv("L")
	if lang == "" {
		lang = "en"
	}
	tx := ReadIn(s, lang)
	for _, r := range tx.Readings {
		fmt.Println(r, "?", r.Left(s))
	}
}
