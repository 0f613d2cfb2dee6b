package icon

import "errors"

// A lossless WebP may have as many groups of prefix codes as it has tiles, up to
// 2600, each of up to 50 KB once decoded and some bytes in the file. Their
// number follows pictures that describe how the rest is coded, so these are read
// here, only for their length and for the largest number of a group: a number for
// each tile, in red and green.

var errLossless = errors.New("icon: broken lossless WebP")

// alphabets are the codes of a group: green with lengths (and the cache behind
// them), red, blue, alpha, distances.
var alphabets = [...]int{literals + lengths, literals, literals, literals, 40}

const (
	literals = 256
	lengths  = 24

	// treeSize is what the decoder allocates for an empty tree, nodeSize for each
	// symbol with its part of the branches.
	treeSize = 536
	nodeSize = 16
)

// groupsCost returns the cost of the groups of codes of a picture of w x h, whose
// stream begins after the size.
func groupsCost(data []byte, w, h int) (cost int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != errLossless { //nolint:errorlint // the value of a panic of this file
				panic(p)
			}
			err = errLossless
		}
	}()
	b := &losslessBits{data: data}
	for b.read(1) == 1 {
		switch b.read(2) {
		case 0, 1: // prediction and colours, by tiles
			tile := b.read(3) + 2
			b.picture(tiles(w, tile), tiles(h, tile))
		case 3: // a palette; small ones put several pixels into one
			colours := b.read(8) + 1
			b.picture(colours, 1)
			switch {
			case colours <= 2:
				w = tiles(w, 3)
			case colours <= 4:
				w = tiles(w, 2)
			case colours <= 16:
				w = tiles(w, 1)
			}
		}
	}
	symbols, groups := b.cache(), 1
	if b.read(1) == 1 {
		tile := b.read(3) + 2
		w, h := tiles(w, tile), tiles(h, tile)
		groups = min(b.picture(w, h)+1, w*h)
	}
	for _, n := range alphabets {
		symbols += n
	}
	return int64(groups) * int64(len(alphabets)*treeSize+symbols*nodeSize), nil
}

// tiles returns how many tiles of 1<<bits pixels cover n.
func tiles(n, bits int) int { return (n + 1<<bits - 1) >> bits }

// losslessBits reads the stream, lowest bits first. Broken data end it by a
// panic with errLossless, since otherwise every step would need a check.
type losslessBits struct {
	data []byte
	at   int // in bits
}

func (b *losslessBits) read(n int) (v int) {
	for i := range n {
		if b.at>>3 >= len(b.data) {
			panic(errLossless)
		}
		v |= int(b.data[b.at>>3]>>(b.at&7)&1) << i
		b.at++
	}
	return v
}

// cache returns the number of cached colours.
func (b *losslessBits) cache() int {
	if b.read(1) == 0 {
		return 0
	}
	n := b.read(4)
	if n < 1 || n > 11 {
		panic(errLossless)
	}
	return 1 << n
}

// picture skips a picture that is part of another's coding and returns the largest
// number in red and green. Copies and cached colours only repeat earlier pixels.
func (b *losslessBits) picture(w, h int) (largest int) {
	cached := b.cache()
	var codes [len(alphabets)]prefixCode
	for i, n := range alphabets {
		if i == 0 {
			n += cached
		}
		codes[i] = b.code(n)
	}
	for left := w * h; left > 0; left-- {
		switch green := codes[0].next(b); {
		case green < literals:
			largest = max(largest, codes[1].next(b)<<8|green)
			codes[2].next(b)
			codes[3].next(b)
		case green < literals+lengths:
			left -= b.count(green-literals) - 1
			b.count(codes[4].next(b))
		}
	}
	return largest
}

// count reads the rest of a length or distance.
func (b *losslessBits) count(symbol int) int {
	if symbol < 4 {
		return symbol + 1
	}
	extra := (symbol - 2) >> 1
	return (2+symbol&1)<<extra + b.read(extra) + 1
}

// prefixCode is a canonical code: how many symbols there are of each length, and
// the symbols in the order of their codes.
type prefixCode struct {
	counts  [16]int
	symbols []int
}

func (c *prefixCode) next(b *losslessBits) int {
	if len(c.symbols) == 1 {
		return c.symbols[0]
	}
	code, first, index := 0, 0, 0
	for _, n := range c.counts[1:] {
		code |= b.read(1)
		if code-first < n {
			return c.symbols[index+code-first]
		}
		index += n
		first = (first + n) << 1
		code <<= 1
	}
	panic(errLossless)
}

// code reads the code of an alphabet.
func (b *losslessBits) code(alphabet int) prefixCode {
	if b.read(1) == 1 { // one or two symbols as they are
		n := b.read(1) + 1
		c := prefixCode{symbols: []int{b.read(1 + 7*b.read(1))}}
		if n == 2 {
			c.symbols = append(c.symbols, b.read(8))
			c.counts[1] = 2
		}
		return c
	}
	order := [...]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	n := b.read(4) + 4
	if n > len(order) {
		panic(errLossless)
	}
	all := make([]int, len(order))
	for _, symbol := range order[:n] {
		all[symbol] = b.read(3)
	}
	return canonical(b.lengths(canonical(all), alphabet))
}

// lengths reads the lengths of a code's symbols, which have a code too.
func (b *losslessBits) lengths(code prefixCode, alphabet int) []int {
	all, left := make([]int, 0, alphabet), alphabet
	if b.read(1) == 1 {
		left = b.read(2+2*b.read(3)) + 2
	}
	last := 8
	for ; len(all) < alphabet && left > 0; left-- {
		length, times := code.next(b), 1
		switch length {
		case 16:
			length, times = last, 3+b.read(2)
		case 17:
			length, times = 0, 3+b.read(3)
		case 18:
			length, times = 0, 11+b.read(7)
		}
		if length != 0 {
			last = length
		}
		if times > alphabet-len(all) {
			panic(errLossless)
		}
		for range times {
			all = append(all, length)
		}
	}
	return all
}

// canonical returns the code for the lengths of all symbols (0: unused), which must
// use every sequence of bits.
func canonical(all []int) (c prefixCode) {
	for length := 1; length < len(c.counts); length++ {
		for symbol, l := range all {
			if l == length {
				c.counts[length]++
				c.symbols = append(c.symbols, symbol)
			}
		}
	}
	free := 1
	for _, n := range c.counts[1:] {
		if free = free<<1 - n; free < 0 {
			panic(errLossless)
		}
	}
	if free != 0 && len(c.symbols) != 1 {
		panic(errLossless)
	}
	return c
}
