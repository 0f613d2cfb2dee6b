package intake

import (
	"strings"

	apibody "github.com/slipway-qa/slipway/api/body"
)

// boundaryOf returns the boundary of a multipart content type, and whether it is
// multipart at all. Clients write boundaries that the grammar of parameters
// does not allow without quotes, so the value is taken as it stands.
func boundaryOf(contentType string) (string, bool) {
	if len(contentType) < 10 || !strings.EqualFold(contentType[:10], "multipart/") {
		return "", false
	}
	boundary, _ := apibody.Parameter(contentType, "boundary")
	return boundary, true
}
