package intent

import (
	"os"
	"strings"
	"testing"
)

// readings returns the sentences of testdata/readings.txt: a line "LANG sentence", then one
// with the reading that somebody judged right, indented.
func readings(t testing.TB) [][3]string {
	t.Helper()
	data, err := os.ReadFile("testdata/readings.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list [][3]string
	for _, line := range strings.Split(string(data), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			list[len(list)-1][2] = strings.TrimSpace(line)
		default:
			lang, sentence, _ := strings.Cut(line, " ")
			list = append(list, [3]string{lang, sentence, ""})
		}
	}
	return list
}

// TestReadings holds sentences to the readings that were judged right. With SLIPWAY_JUDGED
// naming a file it writes what is read now in place of them there, to be judged again.
func TestReadings(t *testing.T) {
	var now strings.Builder
	for _, r := range readings(t) {
		text := ReadIn(r[1], r[0])
		got, left := "nothing", ""
		if len(text.Readings) > 0 {
			got, left = text.Readings[0].String(), text.Readings[0].Left(r[1])
		}
		now.WriteString(r[0] + " " + r[1] + "\n  " + got + "\n")
		if got != r[2] {
			t.Errorf("%s\n got %s\nwant %s", r[1], got, r[2])
		}
		if left != "" {
			t.Errorf("%s: %q was not read", r[1], left)
		}
	}
	if name := os.Getenv("SLIPWAY_JUDGED"); name != "" {
		if err := os.WriteFile(name, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDetected holds the language of the sentences to what is found without being told.
func TestDetected(t *testing.T) {
	wrong, all := 0, 0
	for _, r := range readings(t) {
		all++
		if got := Read(r[1]).Lang; got != r[0] {
			wrong++
			t.Logf("%s: %s, want %s", r[1], got, r[0])
		}
	}
	if wrong*20 > all {
		t.Errorf("%d of %d sentences are taken for another language", wrong, all)
	}
}
