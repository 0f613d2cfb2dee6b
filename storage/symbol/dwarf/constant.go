package dwarf

// The numbers of DWARF that this package uses (https://dwarfstd.org, version 5, chapter 7;
// those with GNU: https://gcc.gnu.org/wiki/DebugFission and
// https://sourceware.org/elfutils/DwarfExtensions).
const (
	tagCompileUnit   = 0x11
	tagInlined       = 0x1d
	tagSubprogram    = 0x2e
	tagPartialUnit   = 0x3c
	tagTypeUnit      = 0x41
	tagSkeletonUnit  = 0x4a
	unitCompile      = 1
	unitType         = 2
	unitPartial      = 3
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

const (
	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrCompDir        = 0x1b
	attrAbstractOrigin = 0x31
	attrSpecification  = 0x47
	attrRanges         = 0x55
	attrCallColumn     = 0x57
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrLinkageName    = 0x6e
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDwoName        = 0x76
	attrMIPSLinkage    = 0x2007
	attrGNUDwoName     = 0x2130
	attrGNUDwoID       = 0x2131
	attrGNURangesBase  = 0x2132
	attrGNUAddrBase    = 0x2133
)

const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// Entries of .debug_rnglists.
const (
	rleEnd          = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// Opcodes of line programs, and what the tables of files of version 5 hold.
const (
	lnsCopy             = 1
	lnsAdvancePC        = 2
	lnsAdvanceLine      = 3
	lnsSetFile          = 4
	lnsSetColumn        = 5
	lnsNegateStmt       = 6
	lnsSetBasicBlock    = 7
	lnsConstAddPC       = 8
	lnsFixedAdvancePC   = 9
	lnsSetPrologueEnd   = 10
	lnsSetEpilogueBegin = 11
	lnsSetISA           = 12
	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lnctPath            = 1
	lnctDirectoryIndex  = 2
)

// Sections in the index of a package of split units: of version 2 (GNU) and 5.
const (
	sectInfo       = 1
	sectAbbrev     = 3
	sectLine       = 4
	sectStrOffsets = 6
	sectRnglists   = 8
)
