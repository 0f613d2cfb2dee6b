package proguard

import (
	"bytes"
	"strings"
)

// The reading of a class's members. Which lines are one method, and to which a comment
// belongs, follows R8's reader: the last of the lines with the same range is the method of
// the obfuscated program, those before it were inlined into it; comments on any of them
// speak of the method, and also of their own line.

// addMethod takes the line of a method.
func (b *builder) addMethod(l *memberLine) error {
	c := &b.class
	signature, err := b.ref(l.signature)
	if err != nil {
		return err
	}
	name, err := b.ref(l.renamed)
	if err != nil {
		return err
	}
	residual := uint32(0)
	switch {
	case c.active >= 0 && c.rows[c.active].signature == signature && c.rows[c.active].name == name:
		residual = c.rows[c.active].residual
	case c.lastAdded >= 0 && c.members[c.lastAdded].signature == signature:
		residual = c.members[c.lastAdded].residual
	}
	if err := b.closeRow(); err != nil {
		return err
	}
	changed := c.name != name || !c.lines.exists() || c.lines != l.lines || !l.single
	if c.pending && changed {
		if err := b.flush(); err != nil {
			return err
		}
	}
	c.rows = append(c.rows, row{lines: l.lines, original: l.original, single: l.single, signature: signature,
		name: name, residual: residual})
	c.active, c.field = len(c.rows)-1, -1
	c.pending, c.signature, c.name, c.lines = true, signature, name, l.lines
	return nil
}

// addField takes the line of a field.
func (b *builder) addField(l *memberLine) error {
	if err := b.endMember(); err != nil {
		return err
	}
	signature, err := b.ref(l.signature)
	if err != nil {
		return err
	}
	name, err := b.ref(l.renamed)
	if err != nil {
		return err
	}
	residual, err := b.ref(l.signature[:bytes.IndexByte(l.signature, ' ')])
	if err != nil {
		return err
	}
	c := &b.class
	c.fields = append(c.fields, field{name: name, signature: signature, residual: residual})
	c.field = len(c.fields) - 1
	b.summary.Fields++
	return nil
}

// endMember ends the method that the last lines belong to.
func (b *builder) endMember() error {
	if err := b.closeRow(); err != nil {
		return err
	}
	b.class.active = -1
	if !b.class.pending {
		return nil
	}
	return b.flush()
}

// closeRow stores what the comments say of the row.
func (b *builder) closeRow() error {
	c := &b.class
	if c.active < 0 || c.info.empty() {
		return nil
	}
	ref, err := b.ref(c.info.encode())
	c.rows[c.active].info, c.info = ref, rowInfo{}
	return err
}

// flush adds the method that the last lines belong to, or adds what comments say to the
// one it goes on.
func (b *builder) flush() error {
	c := &b.class
	c.pending = false
	at := c.lastAdded
	if at < 0 || !c.lines.exists() || c.members[at].name != c.name || c.members[at].signature != c.signature {
		residual := c.residual
		if residual == 0 {
			var err error
			if residual, err = b.defaultResidual(c.signature, c.name); err != nil {
				return err
			}
		}
		var ok bool
		if at, ok = c.byResidual[residual]; !ok {
			at = len(c.members)
			c.members = append(c.members, member{signature: c.signature, name: c.name, residual: residual})
			c.byResidual[residual] = at
			b.summary.Methods++
		}
		c.lastAdded = at
	}
	m := &c.members[at]
	m.synthetic = m.synthetic || c.synthesized
	m.outline = m.outline || c.outline
	c.residual, c.synthesized, c.outline = 0, false, false
	return nil
}

// defaultResidual returns the signature with the obfuscated name.
func (b *builder) defaultResidual(signature, name uint32) (uint32, error) {
	key := [2]uint32{signature, name}
	if ref, ok := b.class.defaults[key]; ok {
		return ref, nil
	}
	kind, rest, _ := strings.Cut(b.text(signature), " ")
	types := rest[strings.IndexByte(rest, '('):]
	ref, err := b.ref([]byte(kind + " " + b.text(name) + types))
	b.class.defaults[key] = ref
	return ref, err
}

// rowResidual returns the residual signature of a row.
func (b *builder) rowResidual(r *row) (uint32, error) {
	if r.residual != 0 {
		return r.residual, nil
	}
	return b.defaultResidual(r.signature, r.name)
}

// comment takes a JSON comment within a class.
func (b *builder) comment(x *info) error {
	c := &b.class
	switch {
	case !c.started:
		return b.classComment(x)
	case c.field >= 0:
		return b.fieldComment(x, &c.fields[c.field])
	case c.active < 0:
		return nil
	}
	switch {
	case x.id == idSynthetic && b.version >= version1:
		c.info.synthetic, c.synthesized = true, true
	case x.id == idOutline && b.version >= version2:
		c.info.outline, c.outline = true, true
	case x.id == idRewrite && b.version >= version2 && c.info.remove == 0:
		c.info.rewrite(x)
	case x.id == idCallsite && b.version >= version2 && c.info.positions == nil:
		c.info.positions = x.positions
	case x.id == idResidual && b.version >= version22:
		return b.residualComment(x.signature)
	}
	return nil
}

// classComment takes a comment below the line of the class.
func (b *builder) classComment(x *info) error {
	c := &b.class
	switch {
	case x.id == idSynthetic && b.version >= version1:
		c.synthetic = true
	case x.id == idSourceFile && x.file != "" && c.source == 0:
		ref, err := b.ref([]byte(x.file))
		if err != nil {
			return err
		}
		c.source = ref
		b.sources = append(b.sources, sourceRow{c.originalHash, c.original, ref})
	}
	return nil
}

// fieldComment takes a comment below the line of a field.
func (b *builder) fieldComment(x *info, f *field) (err error) {
	switch {
	case x.id == idSynthetic && b.version >= version1:
		f.synthetic = true
	case x.id == idResidual && b.version >= version22:
		if name, rest, ok := cutType(x.signature); ok && rest == "" {
			f.residual, err = b.ref([]byte(name))
		}
	}
	return err
}

// residualComment takes the signature of a method in the obfuscated program.
func (b *builder) residualComment(descriptor string) error {
	c := &b.class
	text, ok := residualMethod(descriptor, b.text(c.name))
	if !ok {
		return nil
	}
	ref, err := b.ref([]byte(text))
	if err != nil {
		return err
	}
	c.residual = ref
	r := &c.rows[c.active]
	if c.lastAdded < 0 || c.members[c.lastAdded].signature != r.signature {
		r.residual = ref
	}
	return nil
}
