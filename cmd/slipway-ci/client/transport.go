package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// answerTimeout is longer than the longest wait that a request asks for, and than the
	// server takes to store a large build once it has all of it.
	answerTimeout = 5 * time.Minute
	// maxCertificates bounds a file of certificates; all that the world trusts have 250 KB.
	maxCertificates = 16 << 20
)

// Transport returns what sends requests: by the proxies of HTTPS_PROXY, HTTP_PROXY and
// NO_PROXY, and with the authorities of SSL_CERT_FILE and SSL_CERT_DIR beside those of the
// system. An *Error of kind Misused says which file cannot be used.
func Transport(getenv func(string) string) (http.RoundTripper, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       64 << 10, // large bodies: fewer system calls
	}
	file, folder := getenv("SSL_CERT_FILE"), getenv("SSL_CERT_DIR")
	if file == "" && folder == "" {
		return t, nil
	}
	authorities, err := x509.SystemCertPool()
	if err != nil {
		authorities = x509.NewCertPool()
	}
	if file != "" {
		if err := addCertificates(authorities, file); err != nil {
			return nil, &Error{Kind: Misused, Text: "SSL_CERT_FILE: " + err.Error()}
		}
	}
	for _, folder := range filepath.SplitList(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, &Error{Kind: Misused, Text: "SSL_CERT_DIR: " + err.Error()}
		}
		for _, e := range entries {
			// Folders of certificates hold other things besides.
			_ = addCertificates(authorities, filepath.Join(folder, e.Name()))
		}
	}
	t.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	return t, nil
}

func addCertificates(to *x509.CertPool, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCertificates))
	if err != nil {
		return err
	}
	if !to.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s has no certificate (PEM)", name)
	}
	return nil
}
