package minidump

import (
	"fmt"
)

// annotationReader reads the annotations of Crashpad, as many as are left.
type annotationReader struct {
	*file
	left int
}

// read reads CrashpadInfo. Annotations of the process become
// attributes, since Crashpad's clients set them to be searched for; those of modules
// too, and lists are for reading.
func (x *annotationReader) read() {
	b, ok := x.stream(streamCrashpadInfo, 52, 64)
	if !ok {
		return
	}
	if version := x.order.Uint32(b); version == 0 {
		x.warn("CrashpadInfo has version 0")
		return
	}
	if id := x.uuid(b[4:20]); id != "" {
		x.d.Set("crashpad.report_id", id)
	}
	if id := x.uuid(b[20:36]); id != "" {
		x.d.Set("guid", id)
	}
	x.dictionary(x.locate(b[36:]))
	modules, ok := x.part(x.locate(b[44:]), "list of modules of CrashpadInfo")
	if !ok {
		return
	}
	for i := range x.entries(modules, 12) {
		info, ok := x.part(x.locate(modules[4+i*12+4:]), "CrashpadInfo of a module")
		if !ok || len(info) < 28 || x.left <= 0 || x.err != nil {
			continue
		}
		x.textList(x.locate(info[4:]))
		x.dictionary(x.locate(info[12:]))
		x.objects(x.locate(info[20:]))
	}
}

// part reads a list of CrashpadInfo; false for one that is empty or absent.
func (x *annotationReader) part(l location, what string) ([]byte, bool) {
	if l.size == 0 {
		return nil, false
	}
	b, ok := x.bytes(l)
	if !ok {
		x.warn("the %s lies outside of the file", what)
	}
	return b, ok && len(b) >= 4
}

// entries returns how many entries of a size follow the count at the beginning of a
// list.
func (x *annotationReader) entries(b []byte, size int) int {
	n := uint64(x.order.Uint32(b))
	room := uint64((len(b) - 4) / size)
	if n > room {
		x.warn("a list of CrashpadInfo claims %d entries; %d are there", n, room)
	}
	return int(min(n, room, maxAnnotations))
}

func (x *annotationReader) dictionary(l location) {
	b, ok := x.part(l, "annotations of CrashpadInfo")
	if !ok {
		return
	}
	for i := range x.entries(b, 8) {
		if x.left--; x.left < 0 || x.err != nil {
			return
		}
		e := b[4+i*8:]
		key, ok := x.text8(uint64(x.order.Uint32(e)), "name of an annotation")
		value, found := x.text8(uint64(x.order.Uint32(e[4:])), "value of an annotation")
		if ok && found {
			x.d.Set(key, value)
		}
	}
}

// textList reads the texts without names that old clients set, such as
// what the runtime's abort said.
func (x *annotationReader) textList(l location) {
	b, ok := x.part(l, "list of annotations of CrashpadInfo")
	if !ok {
		return
	}
	var texts []string
	for i := range x.entries(b, 4) {
		if x.left--; x.left < 0 || x.err != nil {
			break
		}
		if text, ok := x.text8(uint64(x.order.Uint32(b[4+i*4:])), "annotation"); ok && text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return
	}
	before, _ := x.d.Annotations["Annotations"].([]string)
	x.d.Annotations["Annotations"] = append(before, texts...)
}

// objects reads the annotations with types. Type 1 is text; others are the client's own.
func (x *annotationReader) objects(l location) {
	b, ok := x.part(l, "annotation objects of CrashpadInfo")
	if !ok {
		return
	}
	for i := range x.entries(b, 12) {
		if x.left--; x.left < 0 || x.err != nil {
			return
		}
		const text = 1
		e := b[4+i*12:]
		if x.order.Uint16(e[4:]) != text {
			continue
		}
		key, ok := x.text8(uint64(x.order.Uint32(e)), "name of an annotation")
		value, found := x.text8(uint64(x.order.Uint32(e[8:])), "value of an annotation")
		if ok && found {
			x.d.Set(key, value)
		}
	}
}

// uuid spells a UUID in lower case; "" for zeros.
func (x *annotationReader) uuid(b []byte) string {
	if zero(b) {
		return ""
	}
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", x.order.Uint32(b), x.order.Uint16(b[4:]), x.order.Uint16(b[6:]), b[8:10], b[10:16])
}
