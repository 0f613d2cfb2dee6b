package capability

import "github.com/slipway-qa/slipway/storage/step"

// BasicAuth is the user with which a browser signs in to the site of a test over HTTP.
type BasicAuth struct {
	User string `json:"user"` // may hold variables
	// Password consists of variables: settings are shown to whoever may read the case.
	Password string `json:"password"`
}

// ClientCertificate is what a browser presents to the site of a test over TLS.
type ClientCertificate struct {
	Certificate string `json:"certificate"` // PEM, with the chain; may hold variables
	Key         string `json:"key"`         // PEM; consists of variables, as a password does
}

const (
	maxUser        = 1 << 10
	maxCertificate = 64 << 10
)

// Access is what a browser needs so that the site of a test lets it in; nil members are not
// needed.
type Access struct {
	BasicAuth         *BasicAuth         `json:"basicAuth,omitempty"`
	ClientCertificate *ClientCertificate `json:"clientCertificate,omitempty"`
}

// Texts are all that may name variables.
func (a Access) Texts() (list []string) {
	if b := a.BasicAuth; b != nil {
		list = append(list, b.User, b.Password)
	}
	if c := a.ClientCertificate; c != nil {
		list = append(list, c.Certificate, c.Key)
	}
	return list
}

// check refuses what cannot be stored.
func (a Access) check() error {
	if b := a.BasicAuth; b != nil {
		if b.User == "" {
			return step.Invalid("basicAuth.user", "is missing")
		}
		if err := step.CheckText("basicAuth.user", b.User, maxUser); err != nil {
			return err
		}
		if err := checkHidden("basicAuth.password", b.Password); err != nil {
			return err
		}
	}
	if c := a.ClientCertificate; c != nil {
		if c.Certificate == "" {
			return step.Invalid("clientCertificate.certificate", "is missing")
		}
		if err := step.CheckText("clientCertificate.certificate", c.Certificate, maxCertificate); err != nil {
			return err
		}
		return checkHidden("clientCertificate.key", c.Key)
	}
	return nil
}

// checkHidden accepts texts that consist of variables alone.
func checkHidden(path, text string) error {
	if text == "" || !step.OnlyVariables(text) || len(text) > maxUser {
		return step.Invalid(path, "must be a variable, as {{password}}: whoever may read the test case reads its settings")
	}
	return nil
}
