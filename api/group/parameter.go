package group

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
)

// maxText bounds a parameter of a list, in bytes: names are not longer.
const maxText = 255

// text reads a query parameter that filters by text.
func text(c *gin.Context, name string) (string, error) {
	value := strings.TrimSpace(c.Query(name))
	if len(value) > maxText || !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0 {
		return "", storage.Invalid(name, "must be UTF-8 text of at most %d bytes", maxText)
	}
	return value, nil
}

// number reads a query parameter that is an id; 0 when absent.
func number(c *gin.Context, name string) (int64, error) {
	value := strings.TrimSpace(c.Query(name))
	if value == "" {
		return 0, nil
	}
	return id(name, value)
}

// id reads an id of a body or a query.
func id(member, text string) (int64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 63)
	if err != nil || n == 0 {
		return 0, storage.Invalid(member, "must be a numeric id")
	}
	return int64(n), nil
}

// ids reads a list of ids; nil stays nil.
func ids(member string, list []string) ([]int64, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]int64, 0, len(list))
	for _, text := range list {
		n, err := id(member, text)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
