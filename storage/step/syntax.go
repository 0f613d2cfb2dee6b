package step

import (
	"math"

	"github.com/slipway-qa/slipway/storage/step/css"
	"github.com/slipway-qa/slipway/storage/step/xpath"
)

// checkSyntax checks the value of a selector by CSS or XPath. What a variable stands
// for is not known yet: with one, only an error before it is certain.
func checkSyntax(path string, s *Selector) error {
	value, certain := s.Value, math.MaxInt
	if list := findReferences(value); len(list) > 0 {
		certain = list[0].from
		value, _ = Expand(value, func(Reference) (string, bool) { return "x", true })
	}
	switch s.Type {
	case CSS:
		if wrong := css.Check(value); wrong != nil && wrong.Read <= certain {
			return Invalid(path, "is no CSS selector: %s", wrong)
		}
	case XPath:
		if wrong := xpath.Check(value); wrong != nil && wrong.Read <= certain {
			return Invalid(path, "is no XPath that finds elements: %s", wrong)
		}
	}
	return nil
}
