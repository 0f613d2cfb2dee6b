package wasm

import (
	"errors"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// The parts of the name section:
// https://webassembly.github.io/spec/core/appendix/custom.html#name-section
const (
	moduleName    = 0
	functionNames = 1
)

// readNames reports the names of functions. A name section that is wrong does not keep the rest from
// being read, as engines do not refuse such a module.
func (x *reader) readNames() error {
	c, ok := x.cursor("name")
	if !ok {
		return nil
	}
	err := x.readNameParts(c)
	var wrong *symbol.InvalidError
	if errors.As(err, &wrong) {
		x.sum.Reason = "the name section: " + wrong.Reason
		return nil
	}
	return err
}

func (x *reader) readNameParts(c *cursor) error {
	for c.at < c.end {
		id, err := c.byte()
		if err != nil {
			return err
		}
		size, err := c.u32()
		if err != nil {
			return err
		}
		in := &cursor{r: c.r, at: c.at, end: c.at + int64(size)}
		if err := c.skip(int64(size)); err != nil {
			return err
		}
		switch id {
		case moduleName:
			if x.sum.Name, err = in.text(); err != nil {
				return err
			}
		case functionNames:
			if err := x.readFunctionNames(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *reader) readFunctionNames(c *cursor) error {
	n, err := c.u32()
	if err != nil {
		return err
	}
	for range min(n, maxFunctions) {
		function, err := c.u32()
		if err != nil {
			return err
		}
		name, err := c.text()
		if err != nil {
			return err
		}
		if err := x.nameFunction(function, name); err != nil {
			return err
		}
	}
	return nil
}

// nameFunction reports a name, at the code of the function and at its number.
func (x *reader) nameFunction(function uint32, name string) error {
	if name == "" || uint64(function) >= uint64(x.imported)+uint64(len(x.bodies)) {
		return nil
	}
	if err := x.sink.Public(native.Public{Address: IndexAddress(function), Size: 1, Name: name}); err != nil {
		return err
	}
	if function < x.imported {
		return nil
	}
	x.sum.Names++
	at := x.bodies[function-x.imported]
	return x.sink.Public(native.Public{Address: at.Start, Size: at.End - at.Start, Name: name})
}
