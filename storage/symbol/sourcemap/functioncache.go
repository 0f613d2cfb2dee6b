package sourcemap

import "sync"

// maxFunctionCache bounds the memory for functions of sources, in bytes.
const maxFunctionCache = 1 << 20

// functionCache keeps the functions of the sources that were asked for last.
type functionCache struct {
	mu    sync.Mutex
	lists map[int]*functionList
	size  int64
}

// get returns the functions of a source, made by read when they are not there.
func (c *functionCache) get(n int, read func() (*functionList, error)) (*functionList, error) {
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
	if size := list.size(); size <= maxFunctionCache/2 && c.lists[n] == nil {
		if c.lists == nil || c.size+size > maxFunctionCache {
			c.lists, c.size = map[int]*functionList{}, 0
		}
		c.lists[n] = list
		c.size += size
	}
	return list, nil
}
