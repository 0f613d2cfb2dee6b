package command

import (
	"fmt"
	"strconv"
	"strings"
)

// size is a number of bytes in a flag: 64MB, 1GiB, 1048576.
type size int64

// units by their names; MB and MiB are the same here, a threshold and no invoice.
var units = []struct {
	name string
	of   int64
}{{"gib", 1 << 30}, {"gb", 1 << 30}, {"g", 1 << 30}, {"mib", 1 << 20}, {"mb", 1 << 20}, {"m", 1 << 20}, {"kib", 1 << 10},
	{"kb", 1 << 10}, {"k", 1 << 10}, {"b", 1}}

// UnmarshalText reads a size.
func (s *size) UnmarshalText(text []byte) error {
	number, unit := strings.ToLower(strings.TrimSpace(string(text))), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.of
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<50)/unit {
		return fmt.Errorf("%q is no size, such as 64MB", text)
	}
	*s = size(n * unit)
	return nil
}
