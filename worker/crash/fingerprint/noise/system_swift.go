package noise

import "strings"

// isSwiftStandard reports whether a function is of Swift's standard library where a demangler leaves
// the module out. The compiler writes a copy of a generic one for each type that is used with it
// ("specialized Array.subscript.getter") into the module of the application, which is not where
// the error is: its caller is.
func isSwiftStandard(name string) bool {
	name = strings.TrimPrefix(name, "closure in ")
	typ, member, ok := strings.Cut(name, ".")
	if !ok {
		return false
	}
	typ, _, _ = strings.Cut(typ, "<")
	switch typ {
	case "Array", "ContiguousArray", "ArraySlice", "Dictionary", "Set", "String", "Substring", "Optional", "Range",
		"ClosedRange", "Sequence", "Collection", "BidirectionalCollection", "RandomAccessCollection", "MutableCollection",
		"RangeReplaceableCollection", "LazySequence", "LazyMapSequence", "EnumeratedSequence",
		"UnsafePointer", "UnsafeMutablePointer", "UnsafeBufferPointer", "UnsafeMutableBufferPointer", "UnsafeRawPointer",
		"UnsafeMutableRawPointer", "UnsafeRawBufferPointer", "UnsafeMutableRawBufferPointer", "Unmanaged", "Result",
		"Int", "UInt", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Double", "Float", "Character",
		"BinaryInteger", "FixedWidthInteger", "Slice", "KeyValuePairs", "DefaultIndices", "IndexingIterator", "Zip2Sequence",
		"_ArrayBuffer", "_ContiguousArrayBuffer", "_NativeDictionary", "_NativeSet", "_ArrayBufferProtocol", "_StringGuts",
		"_StringObject", "__CocoaDictionary":
	default:
		return false
	}
	if typ[0] == '_' {
		return true
	}
	member, _, _ = strings.Cut(strings.TrimPrefix(member, "Index."), "(")
	head, _, _ := strings.Cut(member, ".")
	switch head {
	case "subscript", "init", "deinit", "append", "insert", "remove", "removeFirst", "removeLast", "removeAll",
		"removeValue", "removeSubrange", "replaceSubrange", "updateValue", "reserveCapacity", "swapAt", "sort", "sorted",
		"map", "flatMap", "compactMap", "mapValues", "filter", "forEach", "reduce", "first", "last", "firstIndex",
		"lastIndex", "contains", "index", "formIndex", "distance",
		"prefix", "suffix", "dropFirst", "dropLast", "popFirst", "popLast", "joined", "split", "reversed", "shuffled",
		"enumerated", "makeIterator", "makeUnique", "makeMutableAndUnique", "withUnsafeBufferPointer",
		"withUnsafeMutableBufferPointer", "withUnsafeBytes", "withContiguousStorageIfAvailable", "endIndex", "startIndex",
		"count", "isEmpty", "min", "max", "allSatisfy", "elementsEqual", "starts", "merge", "merging", "formUnion", "union",
		"pointee", "initialize", "deinitialize", "assign", "update", "move", "moveInitialize", "advanced", "allocate", "deallocate",
		"unsafelyUnwrapped", "get", "hash", "description", "debugDescription", "utf8", "utf16", "unicodeScalars", "encode", "next":
		return true
	}
	return strings.HasPrefix(head, "_") // _checkSubscript, _checkIndex
}
