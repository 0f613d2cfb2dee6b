package library

import (
	"container/list"
	"sync"
)

// cache keeps values up to a number of bytes, and drops those that were used longest ago:
// first of the organization that has most, if that is more than its share.
type cache struct {
	most int64

	mu     sync.Mutex
	bytes  int64
	items  map[string]*item
	recent *list.List // of *item, used last at the front
	owners map[int64]*owner
}

// shareOf: an organization keeps at most this part of the cache while others want room.
const shareOf = 3

type owner struct {
	bytes  int64
	recent *list.List // of *item
}

type item struct {
	key       string
	of        int64 // organization
	bytes     int64
	value     any
	at, owned *list.Element
}

func newCache(most int64) *cache {
	return &cache{most: most, items: map[string]*item{}, recent: list.New(), owners: map[int64]*owner{}}
}

func (c *cache) get(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.items[key]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(i.at)
	c.owners[i.of].recent.MoveToFront(i.owned)
	return i.value, true
}

// put keeps a value, unless it is larger than the share of an organization.
func (c *cache) put(key string, organization, bytes int64, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.items[key]; ok {
		c.drop(old)
	}
	if bytes > c.most/shareOf {
		return
	}
	o := c.owners[organization]
	if o == nil {
		o = &owner{recent: list.New()}
		c.owners[organization] = o
	}
	i := &item{key: key, of: organization, bytes: bytes, value: value}
	i.at, i.owned = c.recent.PushFront(i), o.recent.PushFront(i)
	c.items[key] = i
	o.bytes += bytes
	c.bytes += bytes
	for c.bytes > c.most {
		c.drop(c.victim())
	}
}

// victim returns the item to drop next.
func (c *cache) victim() *item {
	var largest *owner
	for _, o := range c.owners {
		if o.bytes > c.most/shareOf && (largest == nil || o.bytes > largest.bytes) {
			largest = o
		}
	}
	if largest != nil {
		return largest.recent.Back().Value.(*item)
	}
	return c.recent.Back().Value.(*item)
}

func (c *cache) drop(i *item) {
	delete(c.items, i.key)
	c.recent.Remove(i.at)
	o := c.owners[i.of]
	o.recent.Remove(i.owned)
	o.bytes -= i.bytes
	c.bytes -= i.bytes
	if o.recent.Len() == 0 {
		delete(c.owners, i.of)
	}
}

func (c *cache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// sizeOf returns what an organization has in the cache.
func (c *cache) sizeOf(organization int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.owners[organization]; o != nil {
		return o.bytes
	}
	return 0
}
