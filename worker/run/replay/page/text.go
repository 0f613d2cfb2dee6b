package page

import "strings"

// CollapseSpaces returns a text with white space as a browser renders it.
func CollapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }
