package setting

import (
	"crypto/x509"
	"fmt"
	"os"
)

// signatureSettings are those of the verification of packages.
type signatureSettings struct {
	AppleRoots string `env:"SLIPWAY_APPLE_ROOTS" type:"path" help:"File with the root certificates of Apple that vouch for provisioning profiles (PEM), from apple.com/certificateauthority. Default: who signed a profile is not checked, and builds of iOS say so."`
}

// Roots returns the certificates in PEM; "" when there are none.
func (s *signatureSettings) Roots() (string, error) {
	if s.AppleRoots == "" {
		return "", nil
	}
	text, err := os.ReadFile(s.AppleRoots)
	if err != nil {
		return "", fmt.Errorf("SLIPWAY_APPLE_ROOTS: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return "", fmt.Errorf("SLIPWAY_APPLE_ROOTS: %s has no certificate in PEM", s.AppleRoots)
	}
	return string(text), nil
}
