package servicetest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// handedOut are the ports that QuietPort returned.
var handedOut sync.Map

// QuietPort returns a free port of 127.0.0.1 that the system does not hand out by itself:
// nobody gets it, as that of a connection, before a server listens on it, or while a server
// that was killed is down.
func QuietPort() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no free port")
}
