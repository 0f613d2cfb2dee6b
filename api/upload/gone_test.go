package upload

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A job that is killed while it waits for the answer to a part has sent that part: it is stored,
// so that the next job has one part at most to send again.
func TestPartOfAJobThatIsGoneIsStored(t *testing.T) {
	bothStores(t, nil, func(t *testing.T, w *world) {
		s := w.sender(t, "job", bigIPA("1"))
		s.begin(201, "")
		c, err := net.Dial("tcp4", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "PUT %s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Length: %d\r\n\r\n", s.path(1), s.key, len(s.bytes(1)))
		require.NoError(t, err)
		_, err = c.Write(s.bytes(1))
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Eventually(t, func() bool { return len(s.begin(200, "")["parts"].([]any)) == 1 }, waitFor, tick)
		s.send(1, 2, 3, 4)
		status, out := s.build()
		require.Equal(t, 201, status, out)
	})
}
