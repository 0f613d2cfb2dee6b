package android

import (
	"math"
	"strconv"
	"strings"
)

// This file is what APKs and bundles share. An APK has its documents (manifest,
// drawables) as binary XML and its resources in resources.arsc; a bundle has both
// as protobuf. Each reader converts them to the types here, and everything after
// that is written once:
//
//	element, attr, value   a compiled document: axml.go builds it for APKs
//	resources              lookups by id and path: table.go has it for APKs
//	readManifest           manifest and resources to artifact.Package (manifest.go)
//	readIcon               icon and roundIcon to a PNG (icon.go)
//
// A value is a Res_value: its type and 32 bits of data, with Text for strings. A
// protobuf Primitive or Reference becomes the value of the same type.

// element is one element of a compiled document.
type element struct {
	Name     string // without its namespace
	Attrs    []attr
	Children []*element
}

// attr is one attribute, by its name without its namespace: no document read here
// has the same name in two.
type attr struct {
	Name  string
	Value value
}

// attr returns the value of an attribute, or the zero value.
func (e *element) attr(name string) value {
	for _, a := range e.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return value{}
}

// child returns the first child of a name, or nil.
func (e *element) child(name string) *element {
	for _, c := range e.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// valueType is the type of a value, numbered as Res_value.dataType.
type valueType uint8

const (
	typeNone             valueType = 0x00
	typeReference        valueType = 0x01
	typeAttribute        valueType = 0x02 // ?attr/..., of a theme, which is unknown here
	typeString           valueType = 0x03
	typeFloat            valueType = 0x04
	typeDimension        valueType = 0x05
	typeFraction         valueType = 0x06
	typeDynamicReference valueType = 0x07
	typeDec              valueType = 0x10
	typeHex              valueType = 0x11
	typeBool             valueType = 0x12
	typeColorARGB8       valueType = 0x1c // Data is 0xAARRGGBB for all four
	typeColorRGB4        valueType = 0x1f
)

// value is an attribute's or a resource's value.
type value struct {
	Type valueType
	Data uint32 // an integer, bits of a float32, a colour, a resource id
	Text string // of typeString
}

func stringValue(s string) value       { return value{Type: typeString, Text: s} }
func referenceValue(id uint32) value   { return value{Type: typeReference, Data: id} }
func (v value) isNone() bool           { return v.Type == typeNone }
func (v value) isReference() bool      { return v.Type == typeReference || v.Type == typeDynamicReference }
func (v value) isInteger() bool        { return v.Type >= typeDec && v.Type <= typeColorRGB4 }
func (v value) isColor() bool          { return v.Type >= typeColorARGB8 && v.Type <= typeColorRGB4 }
func (v value) number() (uint32, bool) { return v.Data, v.isInteger() }

// text returns the value as in the source: strings, numbers and booleans.
func (v value) text() string {
	switch {
	case v.Type == typeString:
		return v.Text
	case v.Type == typeBool:
		return strconv.FormatBool(v.Data != 0)
	case v.Type == typeHex:
		return strconv.FormatUint(uint64(v.Data), 10)
	case v.isInteger():
		return strconv.FormatInt(int64(int32(v.Data)), 10)
	case v.Type == typeFloat:
		// A version "1.10" that was not quoted is a float in old packages.
		return strconv.FormatFloat(float64(math.Float32frombits(v.Data)), 'f', -1, 32)
	}
	return ""
}

// boolean returns the value as a boolean.
func (v value) boolean() bool {
	if v.Type == typeString {
		return v.Text == "true"
	}
	return v.isInteger() && v.Data != 0
}

// float returns a number, or the fallback when there is none. A dimension loses its
// unit and a fraction is a part of 1.
func (v value) float(fallback float64) float64 {
	f := fallback
	switch {
	case v.Type == typeFloat:
		f = float64(math.Float32frombits(v.Data))
	case v.Type == typeDimension, v.Type == typeFraction:
		f = complexNumber(v.Data)
	case v.isInteger():
		f = float64(int32(v.Data))
	case v.Type == typeString:
		s := strings.TrimRight(v.Text, "dipxst%")
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			f = n
		}
	}
	if math.IsNaN(f) || math.Abs(f) > 1e6 {
		return fallback
	}
	return f
}

// complexNumber reads the 24-bit mantissa and 2-bit radix of dimensions and
// fractions.
func complexNumber(data uint32) float64 {
	radix := [4]float64{1 << 8, 1 << 15, 1 << 23, 1 << 31}
	return float64(int32(data&0xffffff00)) / radix[data>>4&3]
}

// config is what decides between the values of one resource.
type config struct {
	Locale  string // "" for the default, else as "de" or "pt-BR"
	Density uint16 // in dpi; 0 default, densityAny, densityNone
	SDK     uint16
	Night   bool
	Other   bool // any other qualifier: size, orientation, country, ...
}

const (
	densityAny  = 0xfffe // scalable: XML
	densityNone = 0xffff
)

// distance returns how far a configuration is from the default, whose name and icon
// a package has where nothing else is chosen.
func (c config) distance() int {
	n := 0
	switch {
	case c.Locale == "":
	case c.Locale == "en" || strings.HasPrefix(c.Locale, "en-"):
		n += 50
	default:
		n += 100
	}
	if c.Night {
		n += 20
	}
	if c.Other {
		n += 10
	}
	if c.SDK > 0 {
		n++
	}
	return n
}

// candidate is the value of a resource in one configuration.
type candidate struct {
	Config config
	Value  value
}

// resources are the resources of a package.
type resources interface {
	// candidates returns the values of a resource in all configurations, in any
	// order; none when it is unknown. Bags (styles, arrays) have none.
	candidates(id uint32) []candidate
	// drawable reads a file of the package by its path in it: either a document
	// or the bytes of anything else, which is a raster image.
	drawable(path string) (doc *element, raster []byte, err error)
}

// maxReferences bounds chains of references, which may be cycles.
const maxReferences = 16

// resolve follows a reference to the value of the default configuration. The value
// is none when there is no such resource.
func resolve(res resources, v value) value {
	return follow(v, func(id uint32) value { return defaultValue(res, id) })
}

// defaultValue returns the value of a resource in the default configuration, or in what is
// next to it; none when there is no such resource.
func defaultValue(res resources, id uint32) value {
	if res == nil {
		return value{}
	}
	all := res.candidates(id)
	if len(all) == 0 {
		return value{}
	}
	best, least := 0, all[0].Config.distance()
	for i := 1; i < len(all) && least > 0; i++ {
		if d := all[i].Config.distance(); d < least {
			best, least = i, d
		}
	}
	return all[best].Value
}

// follow follows references as far as they lead.
func follow(v value, of func(id uint32) value) value {
	for range maxReferences {
		if !v.isReference() {
			return v
		}
		if c, ok := frameworkColors[v.Data]; ok {
			return value{Type: typeColorARGB8, Data: c}
		}
		v = of(v.Data)
	}
	return value{}
}

// frameworkColors are the colours of Android itself that icons use.
var frameworkColors = map[uint32]uint32{
	0x0106000b: 0xffffffff, // @android:color/white
	0x0106000c: 0xff000000, // @android:color/black
	0x0106000d: 0x00000000, // @android:color/transparent
}
