package progress

import (
	"regexp"
	"strings"
	"unicode"
)

// What a pipeline reads as a command in the log of a job: to Azure Pipelines, TeamCity and GitHub
// Actions wherever it stands in a line, and to GitHub Actions at its beginning.
var (
	commandMark  = regexp.MustCompile(`##([A-Za-z]*\[)`)
	commandBegin = regexp.MustCompile(`^(\s*)::`)
)

// Defused returns a line in which no pipeline finds a command: its marks are torn apart.
func Defused(line string) string {
	return commandBegin.ReplaceAllString(commandMark.ReplaceAllString(line, "# #$1"), "$1: :")
}

// Spaced returns a text in one line, as Printable, with its blanks as they are.
func Spaced(text string) string {
	return Defused(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?")))
}

// Printable returns a text in one line without control characters, which could move the
// cursor of a terminal, change its title or type for whoever sits there, and without commands
// to the pipeline that reads its log (Defused).
func Printable(text string) string {
	return Defused(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return r == ' ' || !unicode.IsGraphic(r)
	}), " "))
}
