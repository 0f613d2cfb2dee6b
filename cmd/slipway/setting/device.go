package setting

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/slipway-qa/slipway/api/install/enrolment"
)

// deviceSettings are those of the registration of devices. The key stays in its file,
// as that of a web server does.
type deviceSettings struct {
	ProfileCertificate string `env:"SLIPWAY_PROFILE_CERTIFICATE" type:"path" help:"File with the certificate, and its chain, that signs the configuration profiles by which devices register (PEM); that of the https server will do. Default: profiles are not signed, and devices say so."`
	ProfileKey         string `env:"SLIPWAY_PROFILE_KEY" type:"path" help:"File with the private key of that certificate (PEM)."`
	DeviceIssuers      string `env:"SLIPWAY_DEVICE_ISSUERS" type:"path" help:"File with the certificates of the authorities that issue devices theirs, such as Apple iPhone Device CA (PEM). With it a device that answers with another certificate is refused. Default: answers must be signed, by any certificate."`
}

// Signer returns what signs configuration profiles; nil when nothing does.
func (s *deviceSettings) Signer() (*enrolment.Signer, error) {
	if s.ProfileCertificate == "" && s.ProfileKey == "" {
		return nil, nil
	}
	if s.ProfileCertificate == "" || s.ProfileKey == "" {
		return nil, errors.New("SLIPWAY_PROFILE_CERTIFICATE and SLIPWAY_PROFILE_KEY belong together")
	}
	certificate, err := os.ReadFile(s.ProfileCertificate)
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_PROFILE_CERTIFICATE: %w", err)
	}
	key, err := os.ReadFile(s.ProfileKey)
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_PROFILE_KEY: %w", err)
	}
	return enrolment.NewSigner(certificate, key)
}

// Issuers returns the authorities that issue devices their certificates; none when they
// are not configured.
func (s *deviceSettings) Issuers() ([]*x509.Certificate, error) {
	if s.DeviceIssuers == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.DeviceIssuers)
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_DEVICE_ISSUERS: %w", err)
	}
	return enrolment.ReadIssuers(text)
}
