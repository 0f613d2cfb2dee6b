package seleniumide

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// texts are the escapes of Selenium IDE.
var texts = strings.NewReplacer(`\\`, `\`, `\r`, "\r", `\n`, "\n")

var (
	variable     = regexp.MustCompile(`\$\{(\w+)\}`)
	variableName = regexp.MustCompile(`^\w{1,64}$`)
)

// values reads the targets and values of commands.
type values struct {
	variables map[string]string // of store
	warnings  []string
}

// text returns a value as Selenium IDE uses it: trimmed, its variables replaced,
// its escapes undone. Names that store did not set stay as they are.
func (v *values) text(path, value string) (string, error) {
	return v.expand(path, value, true)
}

func (v *values) expand(path, value string, escapes bool) (string, error) {
	unescape := func(part string) string {
		if escapes {
			return texts.Replace(part)
		}
		return part
	}
	value = strings.TrimSpace(value)
	var out strings.Builder
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(value, -1) {
		known, ok := v.variables[value[m[2]:m[3]]]
		if !ok {
			continue
		}
		out.WriteString(unescape(value[end:m[0]]))
		out.WriteString(known)
		end = m[1]
		if out.Len() > step.MaxText {
			break
		}
	}
	if out.Len()+len(value)-end > step.MaxText {
		return "", invalid(path, "has at most %d bytes with its variables replaced", step.MaxText)
	}
	out.WriteString(unescape(value[end:]))
	return out.String(), nil
}

// milliseconds reads a time; missing stands for an empty one. Times are bounded
// by what a step may wait.
func (v *values) milliseconds(path, value string, missing int) (int, error) {
	value, err := v.text(path, value)
	if err != nil || value == "" {
		return missing, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, invalid(path, "must be a number of milliseconds")
	}
	return min(n, step.MaxWaitMS), nil
}

// element reads the target as a locator, with hints from the other locators that
// were recorded.
func (v *values) element(c *command) (*step.Selector, error) {
	s, err := v.locator(c.path+".target", c.Target)
	if err != nil {
		return nil, err
	}
	s.Fingerprint = hints(c)
	return s, nil
}

func (v *values) locator(path, text string) (*step.Selector, error) {
	text, err := v.expand(path, text, false)
	if err != nil {
		return nil, err
	}
	if isFirstMatch(text) {
		v.warn("%s: %s may find several elements, of which the first is taken", path, clip(text, maxShown))
	}
	return parseLocator(path, text)
}

const (
	// maxWarnings bounds the warnings of a test: who has so many reads no more.
	maxWarnings = 100
	maxShown    = 100 // bytes of a locator
)

func (v *values) warn(format string, args ...any) {
	if len(v.warnings) < maxWarnings {
		v.warnings = append(v.warnings, fmt.Sprintf(format, args...))
	}
}
