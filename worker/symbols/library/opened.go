package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// Opened is an index of one of the kinds; the other members are nil.
type Opened struct {
	Native  *native.Index
	Mapping *proguard.Mapping
	Map     *sourcemap.Map
	Script  *sourcemap.Script
}

// errVersion: the index is of another version than this program reads.
var errVersion = errors.New("the index of symbols is of another version")

// whole returns up to which size an index of a kind is read as a whole, and whether what
// opens it keeps those bytes beside what it says that it costs.
func whole(kind symbol.Kind) (size int64, kept bool) {
	switch kind {
	case symbol.ProGuard:
		return 64 << 20, false // a Mapping holds that much itself
	case symbol.SourceMap:
		return 8 << 20, false // so does a Map
	}
	return 4 << 20, true
}

// openCost is what an opened index takes besides what it says.
const openCost = 4 << 10

// opened returns an index, from the cache or the store.
func (l *Library) opened(ctx context.Context, f symbolfile.File) (*Opened, error) {
	if got, ok := l.cache.get(f.IndexKey); ok {
		l.observe("hit")
		return got.(*Opened), nil
	}
	l.observe("miss")
	return l.opening.do(ctx, f.IndexKey, func(ctx context.Context) (*Opened, error) {
		size, kept := whole(f.Kind)
		if f.IndexSize > size {
			return l.keep(f, f.IndexKey, &reader{pages: l.pages, file: f}, 0)
		}
		all, err := l.pages.read(ctx, f, 0, f.IndexSize)
		if err != nil {
			return nil, err
		}
		held := int64(0)
		if kept {
			held = f.IndexSize
		}
		return l.keep(f, f.IndexKey, bytes.NewReader(all), held)
	})
}

// openedWarm returns an index that is in memory. Of a large one the lookups return ErrCold
// where they would have to fetch.
func (l *Library) openedWarm(f symbolfile.File) (*Opened, error) {
	key := f.IndexKey
	size, _ := whole(f.Kind)
	if f.IndexSize > size {
		key += "#warm"
	}
	if got, ok := l.cache.get(key); ok {
		l.observe("hit")
		return got.(*Opened), nil
	}
	if f.IndexSize <= size {
		return nil, ErrCold
	}
	opened, err := l.keep(f, key, &reader{pages: l.pages, file: f, warm: true}, 0)
	if err == nil {
		l.observe("hit")
	}
	return opened, err
}

// keep opens an index and puts it into the cache.
func (l *Library) keep(f symbolfile.File, key string, r io.ReaderAt, held int64) (*Opened, error) {
	opened, cost, err := openIndex(r, f.IndexSize)
	if err != nil {
		return nil, fmt.Errorf("open index of symbol file %d: %w", f.ID, err)
	}
	l.cache.put(key, f.OrganizationID, held+cost+openCost, opened)
	return opened, nil
}

// openIndex opens an index of whatever kind, and returns what it takes in memory.
func openIndex(r io.ReaderAt, size int64) (*Opened, int64, error) {
	f, err := symbol.Open(r, size)
	if err != nil {
		return nil, 0, err
	}
	o := &Opened{}
	var cost interface{ Cost() int64 }
	version := uint32(0)
	switch f.Kind {
	case native.Kind:
		version = native.Version
		o.Native, err = native.Open(f)
		cost = o.Native
	case proguard.Kind:
		version = proguard.Version
		o.Mapping, err = proguard.Open(f)
		cost = o.Mapping
	case string(symbol.SourceMap):
		version = sourcemap.Version
		o.Map, err = sourcemap.Open(f)
		cost = o.Map
	case string(symbol.Source):
		version = sourcemap.Version
		o.Script, err = sourcemap.OpenScript(f)
		cost = o.Script
	}
	if f.Version != version {
		return nil, 0, fmt.Errorf("%w: %q in version %d", errVersion, f.Kind, f.Version)
	}
	if err != nil {
		return nil, 0, err
	}
	return o, cost.Cost(), nil
}
