package mail

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// TLS is how a connection to the mail server is encrypted.
type TLS string

// The values. There is no "if the server offers it": an attacker in between could
// remove the offer.
const (
	StartTLS TLS = "starttls" // startSession in the clear, then insist on STARTTLS
	Implicit TLS = "implicit" // TLS from the first byte
	None     TLS = "none"     // in the clear, with the password if there is one
)

// Server is the mail server. It contains a password, which String, GoString and
// LogValue leave out.
type Server struct {
	Host     string
	Port     int
	TLS      TLS
	User     string // "" for a server without sign-in
	Password string
}

// String returns the server without its credentials.
func (s Server) String() string {
	return "smtp://" + s.address() + "?tls=" + string(s.TLS)
}

// GoString returns the same as String, for %#v.
func (s Server) GoString() string { return s.String() }

// LogValue returns the same as String.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Server) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// ParseSMTP reads the setting:
//
//	smtp://user:password@host:port?tls=starttls|implicit|none
//	smtps://user:password@host:port
//
// User and password are percent-encoded and may be left out together. smtp
// means STARTTLS, and insists on it, unless tls is given; smtps is
// tls=implicit. The ports default to 587 for starttls, 465 for implicit and 25
// for none. No error repeats the text, which contains a password.
func ParseSMTP(text string) (Server, error) {
	for i := range len(text) {
		if text[i] <= 0x20 || text[i] == 0x7f {
			return Server{}, errors.New("mail server: the URL holds a space or a control character")
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return Server{}, errors.New("mail server: malformed URL (is a special character of the password not percent-encoded?)")
	}
	s := Server{Host: u.Hostname(), User: u.User.Username()}
	s.Password, _ = u.User.Password()
	switch {
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return Server{}, errors.New("mail server: the URL must begin with smtp:// or smtps://")
	case !hostName(s.Host) || u.Opaque != "":
		return Server{}, errors.New("mail server: the URL needs a host: smtp://user:password@host:port")
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return Server{}, errors.New("mail server: the URL has no path")
	case (s.User == "") != (s.Password == ""):
		return Server{}, errors.New("mail server: user and password go together")
	case strings.ContainsAny(s.User+s.Password, "\x00\r\n"):
		return Server{}, errors.New("mail server: a control character in user or password")
	}
	if s.TLS, err = tlsOf(u); err != nil {
		return Server{}, err
	}
	s.Port = map[TLS]int{StartTLS: 587, Implicit: 465, None: 25}[s.TLS]
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errors.New("mail server: the port is a number from 1 to 65535")
		}
	}
	return s, nil
}

// hostName accepts names and addresses, which need no escaping anywhere.
func hostName(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	return host != "" && len(host) <= 254 && !strings.ContainsFunc(host, func(r rune) bool {
		return !(r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}

func tlsOf(u *url.URL) (TLS, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", errors.New("mail server: malformed query of the URL")
	}
	for name, values := range query {
		if name != "tls" || len(values) != 1 {
			return "", errors.New("mail server: tls is the only parameter of the URL, given once")
		}
	}
	mode := TLS(query.Get("tls"))
	if u.Scheme == "smtps" {
		if cmp.Or(mode, Implicit) != Implicit {
			return "", errors.New("mail server: smtps:// is tls=implicit")
		}
		return Implicit, nil
	}
	switch mode {
	case "":
		return StartTLS, nil
	case StartTLS, Implicit, None:
		return mode, nil
	}
	return "", errors.New("mail server: tls is starttls, implicit or none")
}
