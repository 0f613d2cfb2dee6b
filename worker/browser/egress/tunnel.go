package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// tunnel is a proxy that connections go through.
type tunnel struct {
	url  *url.URL
	dial dial // to the tunnel itself
}

// handshakeTimeout bounds what a tunnel takes to connect.
const handshakeTimeout = 30 * time.Second

// dialTunnel connects to the tunnel itself.
func (t tunnel) dialTunnel(ctx context.Context) (net.Conn, error) {
	port := t.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[t.url.Scheme]
	}
	conn, err := t.dial(ctx, "tcp", net.JoinHostPort(t.url.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("the tunnel: %w", err)
	}
	if t.url.Scheme == "https" {
		secure := tls.Client(conn, &tls.Config{ServerName: t.url.Hostname(), MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, fmt.Errorf("the tunnel: %w", err)
		}
		conn = secure
	}
	return conn, nil
}

// dialThrough connects to the tunnel and makes it connect to a server by a handshake.
func (t tunnel) dialThrough(ctx context.Context, handshake func(net.Conn) error) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn, err := t.dialTunnel(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = handshake(conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the tunnel: %w", err)
	}
	return conn, nil
}

// connect dials an address through an HTTP proxy.
func (t tunnel) connect(ctx context.Context, _, address string) (net.Conn, error) {
	return t.dialThrough(ctx, func(conn net.Conn) error {
		text := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
		if t.url.User != nil {
			password, _ := t.url.User.Password()
			pair := base64.StdEncoding.EncodeToString([]byte(t.url.User.Username() + ":" + password))
			text += "Proxy-Authorization: Basic " + pair + "\r\n"
		}
		if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
			return err
		}
		// The server behind it may send first, so nothing beyond the head may be read:
		// byte by byte, a short text once in a connection.
		head := bufio.NewReaderSize(&singleByteReader{from: conn, left: 16 << 10}, 16)
		response, err := http.ReadResponse(head, &http.Request{Method: http.MethodConnect})
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %d", response.StatusCode)
		}
		return nil
	})
}

// singleByteReader reads single bytes, a bounded number.
type singleByteReader struct {
	from io.Reader
	left int
}

// Read reads one byte.
func (r *singleByteReader) Read(p []byte) (int, error) {
	if r.left--; r.left < 0 || len(p) == 0 {
		return 0, errors.New("its answer is too long")
	}
	return r.from.Read(p[:1])
}

// socks dials an address through a SOCKS 5 proxy (RFC 1928, with user and password by
// RFC 1929). Names are resolved by the proxy.
func (t tunnel) socks(ctx context.Context, _, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || len(host) > 255 {
		return nil, errors.New("no such host")
	}
	return t.dialThrough(ctx, func(conn net.Conn) error {
		if err := t.logIn(conn); err != nil {
			return err
		}
		request := []byte{5, 1, 0}
		if addr, err := netip.ParseAddr(host); err != nil {
			request = append(append(request, 3, byte(len(host))), host...)
		} else if addr = addr.Unmap(); addr.Is4() {
			request = append(append(request, 1), addr.AsSlice()...)
		} else {
			request = append(append(request, 4), addr.AsSlice()...)
		}
		if _, err := conn.Write(binary.BigEndian.AppendUint16(request, uint16(port))); err != nil {
			return err
		}
		var reply [5]byte // with the first byte of the address that it bound
		if _, err := io.ReadFull(conn, reply[:]); err != nil {
			return err
		}
		if reply[0] != 5 || reply[1] != 0 {
			return fmt.Errorf("it answers %d", reply[1])
		}
		addressLeft, ok := map[byte]int{1: 3, 3: int(reply[4]), 4: 15}[reply[3]]
		if !ok {
			return errors.New("it answers in no form of SOCKS 5")
		}
		_, err := io.CopyN(io.Discard, conn, int64(addressLeft)+2) // and the port
		return err
	})
}

// logIn agrees with a SOCKS 5 proxy on how to log in, and logs in.
func (t tunnel) logIn(conn net.Conn) error {
	user := t.url.User.Username()
	password, _ := t.url.User.Password()
	methods := []byte{5, 1, 0}
	if t.url.User != nil {
		if user == "" || len(user) > 255 || len(password) > 255 {
			return errors.New("its user or password is too long")
		}
		methods = []byte{5, 2, 0, 2}
	}
	if _, err := conn.Write(methods); err != nil {
		return err
	}
	var reply [2]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	switch {
	case reply == [2]byte{5, 0}:
		return nil
	case reply != [2]byte{5, 2} || t.url.User == nil:
		return errors.New("it takes no log-in that is known here")
	}
	login := append([]byte{1, byte(len(user))}, user...)
	login = append(append(login, byte(len(password))), password...)
	if _, err := conn.Write(login); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	if reply[1] != 0 {
		return errors.New("it refuses the user or the password")
	}
	return nil
}
