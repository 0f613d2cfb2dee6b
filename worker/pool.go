package worker

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSlots bounds a pool: more slots than this are a typing error, for each holds a
// connection.
const maxSlots = 1000

func parsePools(text string, known map[string]bool) ([]Pool, error) {
	var pools []Pool
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		slots, queues, ok := strings.Cut(part, ":")
		n, err := strconv.Atoi(strings.TrimSpace(slots))
		if !ok || err != nil || n < 1 || n > maxSlots {
			return nil, fmt.Errorf("pool %q: must be slots:queue=weight,... with 1 to %d slots", part, maxSlots)
		}
		pool := Pool{Slots: n, Queues: map[string]int{}}
		for item := range strings.SplitSeq(queues, ",") {
			name, weight, weighted := strings.Cut(strings.TrimSpace(item), "=")
			k := 1
			if weighted {
				if k, err = strconv.Atoi(weight); err != nil || k < 1 || k > 100 {
					return nil, fmt.Errorf("pool %q: the weight of %q must be 1 to 100", part, name)
				}
			}
			if !known[name] {
				return nil, fmt.Errorf("pool %q: unknown queue %q", part, name)
			}
			pool.Queues[name] = k
		}
		pools = append(pools, pool)
	}
	if len(pools) == 0 {
		return nil, fmt.Errorf("no pools in %q", text)
	}
	return pools, nil
}
