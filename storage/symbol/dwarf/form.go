package dwarf

import (
	"github.com/slipway-qa/slipway/storage/symbol"
)

// value is an attribute as it is written: what it means depends on the form.
type value struct {
	form   uint32 // 0: there is none
	number uint64
	text   []byte // of a string that is written in place
}

// constant returns the number of a constant.
func (v value) constant() uint64 { return v.number }

// skipForms skips the attributes of an entry.
func (u *unit) skipForms(d *decoder, a *declaration) error {
	if a.fixed {
		d.skip(uint64(a.bytes + a.addresses*u.addressSize + a.offsets*u.offsetSize()))
		return nil
	}
	for i := range a.attributes {
		if _, err := u.form(d, a.attributes[i].form, 0); err != nil {
			return err
		}
	}
	return nil
}

// form reads one attribute.
func (u *unit) form(d *decoder, form uint32, implicit int64) (value, error) {
	v := value{form: form}
	switch form {
	case formFlagPresent:
		v.number = 1
	case formImplicitConst:
		v.number = uint64(implicit)
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		v.number = uint64(d.u8())
	case formData2, formRef2, formStrx2, formAddrx2:
		v.number = d.uint(2)
	case formStrx3, formAddrx3:
		v.number = d.uint(3)
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		v.number = d.uint(4)
	case formData8, formRef8, formRefSig8, formRefSup8:
		v.number = d.uint(8)
	case formData16:
		d.skip(16)
	case formAddr:
		v.number = d.uint(u.addressSize)
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		v.number = d.offset(u.wide)
	case formRefAddr:
		if u.version < 3 {
			v.number = d.uint(u.addressSize)
		} else {
			v.number = d.offset(u.wide)
		}
	case formSdata:
		v.number = uint64(d.sleb())
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.number = d.uleb()
	case formString:
		v.text = d.text()
	case formBlock1:
		d.skip(uint64(d.u8()))
	case formBlock2:
		d.skip(d.uint(2))
	case formBlock4:
		d.skip(d.uint(4))
	case formBlock, formExprloc:
		d.skip(d.uleb())
	case formIndirect:
		return u.indirect(d)
	default:
		return v, symbol.Invalid(symbol.Unsupported, "form %#x is unknown", form)
	}
	return v, nil
}

// indirect reads an attribute whose form stands before it. It may not be indirect again.
func (u *unit) indirect(d *decoder) (value, error) {
	form := d.uleb()
	if form == formIndirect || form > 1<<31 {
		return value{}, symbol.Invalid(symbol.Malformed, "an indirect form of form %#x", form)
	}
	implicit := int64(0)
	if form == formImplicitConst {
		implicit = d.sleb()
	}
	return u.form(d, uint32(form), implicit)
}

// text returns the string of an attribute; "" if it is none.
func (u *unit) text(v value) (string, error) {
	f := u.file
	switch v.form {
	case formString:
		return string(v.text[:min(len(v.text), maxName)]), nil
	case formStrp:
		return f.spent(f.str.text(v.number))
	case formLineStrp:
		return f.spent(f.lineStr.text(v.number))
	case formStrpSup, formGNUStrpAlt:
		if sup := f.reader.sup; sup != nil {
			return f.spent(sup.str.text(v.number))
		}
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		offset, err := u.indexed(f.strOffsets, u.strOffsetsBase, v.number, u.offsetSize())
		if err != nil {
			return "", err
		}
		return f.spent(f.str.text(offset))
	}
	return "", nil
}

// spent counts a string as work.
func (f *file) spent(text string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return text, f.reader.budget.spend(len(text))
}

// indexed returns the number at an index of a table that begins at a base.
func (u *unit) indexed(s *section, base, index uint64, size int) (uint64, error) {
	if index > uint64(s.size) || base > uint64(s.size) {
		return 0, symbol.Invalid(symbol.Truncated, "index %d lies outside of %s", index, s.name)
	}
	p, err := s.bytes(base+index*uint64(size), size)
	if err != nil {
		return 0, err
	}
	d := decoder{data: p, big: u.file.big}
	return d.uint(size), nil
}

// address returns the address of an attribute; false if it is none.
func (u *unit) address(v value) (uint64, bool, error) {
	switch v.form {
	case formAddr:
		return v.number, true, nil
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		address, err := u.addressAt(v.number)
		return address, err == nil, err
	}
	return 0, false, nil
}

// addressAt returns the address at an index of .debug_addr: for a split unit, of that
// of its skeleton.
func (u *unit) addressAt(index uint64) (uint64, error) {
	owner := u
	if u.skeleton != nil {
		owner = u.skeleton
	}
	return owner.indexed(owner.file.addr, owner.addrBase, index, owner.addressSize)
}
