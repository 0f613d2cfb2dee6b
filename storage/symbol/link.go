package symbol

// Link is a name by which a file with a part of the debug information (a companion) and the
// file that lacks that part find each other. It is no Identifier: crashes do not know it.
type Link struct {
	Type  LinkType `json:"type"`
	Value string   `json:"value"`
}

// LinkType says what kind of name a link is.
type LinkType string

// The types of links.
const (
	// SplitUnit is the id of a unit in a .dwo or .dwp file, as 16 hexadecimal digits.
	SplitUnit LinkType = "split_unit"
	// Supplementary is the build id of the file that dwz moved shared parts to, which
	// .gnu_debugaltlink names.
	Supplementary LinkType = "supplementary"
	// DebugFile is the CRC-32 of a file with debug information, as 8 hexadecimal digits:
	// what .gnu_debuglink has beside the name, which may have changed on the way.
	DebugFile LinkType = "debug_file"
)
