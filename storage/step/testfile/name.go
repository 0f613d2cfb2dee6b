package testfile

import (
	"strconv"
	"strings"
	"unicode"
)

// maxSlug keeps names of files below what file systems take, with the extension and a
// number.
const maxSlug = 80

// Extension is that of case files.
const Extension = ".yaml"

// FileName returns the name of the file of a case, which no other of taken has, in any
// case of letters: some file systems do not tell them apart. It adds the name to taken.
func FileName(name string, taken map[string]bool) string {
	base := slug(name)
	for i := 1; ; i++ {
		file := base
		if i > 1 {
			file += "-" + strconv.Itoa(i)
		}
		file += Extension
		if !taken[file] {
			taken[file] = true
			return file
		}
	}
}

// reserved are names that Windows has for devices.
const reserved = " con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9 "

// slug returns letters and digits of a name in lower case, with dashes between words.
func slug(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			dash = b.Len() > 0
			continue
		}
		if b.Len() > maxSlug {
			break
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	text := b.String()
	if text == "" || strings.Contains(reserved, " "+text+" ") {
		return strings.TrimSuffix("test-"+text, "-")
	}
	return text
}
