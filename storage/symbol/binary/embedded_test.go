package binary

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

func TestEmbeddedPDB(t *testing.T) {
	t.Parallel()
	const path = "testdata/embedded.exe" // made by portablepdb/testdata/points.cs of shop.cs
	f := opened(t, path)
	pdb, err := f.EmbeddedPDB()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(pdb, []byte("BSJB")))
	all, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(all, []byte("MPDB"))
	for want, change := range map[string]func([]byte){
		"not with MPDB":                            func(p []byte) { p[0] = 'X' },
		"unpacks to 4095 MiB":                      func(p []byte) { binary.LittleEndian.PutUint32(p[4:], 1<<32-1) },
		"compressed ones can hold":                 func(p []byte) { binary.LittleEndian.PutUint32(p[4:], maxEmbedded) },
		"its stream has more":                      func(p []byte) { binary.LittleEndian.PutUint32(p[4:], 10) },
		"its stream has " + strconv.Itoa(len(pdb)): func(p []byte) { binary.LittleEndian.PutUint32(p[4:], uint32(len(pdb))+1) },
		"its compressed stream is brok":            func(p []byte) { p[8] = 0xff },
	} {
		p := bytes.Clone(all)
		change(p[at:])
		f, err := Open(bytes.NewReader(p), int64(len(p)))
		require.NoError(t, err)
		_, err = f.EmbeddedPDB()
		require.ErrorContains(t, err, want)
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong)
	}
	native := &File{}
	pdb, err = native.EmbeddedPDB()
	require.NoError(t, err)
	require.Nil(t, pdb)
}
