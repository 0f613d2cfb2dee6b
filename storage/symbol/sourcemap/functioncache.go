package sourcemap

import (
	"sync"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

// maxFunctionCache bounds the memory for functions of sources, in bytes.
const maxFunctionCache = 1 << 20

// functionsOfByte bounds what the functions of a byte of source text, or of a function map,
// take: four bytes make the shortest function, and one takes 72 and its name.
const functionsOfByte = 32

// functionCost returns how much of a functionCache the functions of some bytes of text can
// take: that of a map without texts stays empty.
func functionCost(size int64) int64 { return min(functionsOfByte*size, maxFunctionCache) }

// functionCache keeps the functions of the sources that were asked for last.
type functionCache struct {
	mu    sync.Mutex
	lists map[int]*javascript.List
	size  int64
}

// get returns the functions of a source, made by read when they are not there.
func (c *functionCache) get(n int, read func() (*javascript.List, error)) (*javascript.List, error) {
	c.mu.Lock()
	list := c.lists[n]
	c.mu.Unlock()
	if list != nil {
		return list, nil
	}
	list, err := read()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if size := list.Size(); size <= maxFunctionCache/2 && c.lists[n] == nil {
		if c.lists == nil || c.size+size > maxFunctionCache {
			c.lists, c.size = map[int]*javascript.List{}, 0
		}
		c.lists[n] = list
		c.size += size
	}
	return list, nil
}
