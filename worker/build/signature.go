package build

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/android"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/signature"
	"github.com/slipway-qa/slipway/tasks/child"
)

// operation is the name of what the child process does.
const operation = "verify-signature"

// request is what the child is told of a package.
type request struct {
	Kind artifact.Kind `json:"kind"`
	// Roots are the certificates in PEM that vouch for provisioning profiles.
	Roots string    `json:"roots,omitempty"`
	Now   time.Time `json:"now"`
}

// verdict is what the child found.
type verdict struct {
	artifact.Verification
	// Signer is who signed by an Android signature that was verified; nil without one.
	Signer *artifact.Signer `json:"signer"`
}

// Operations are what child processes do for this package: they verify the signature
// of a package, whose bytes are hostile.
func Operations() map[string]child.Operation {
	return map[string]child.Operation{
		operation: child.TypedFile(func(ctx context.Context, f *child.File, r request) (*verdict, error) { return verify(ctx, f, r) }),
	}
}

// sized is a file of known size.
type sized interface {
	ReadAt(p []byte, off int64) (int, error)
	Size() int64
}

// verify verifies a package. The errors are those of the reader and of ctx.
func verify(ctx context.Context, f sized, r request) (*verdict, error) {
	a, err := archive.Open(f, f.Size())
	if err == nil && r.Kind == artifact.APK {
		return verifyAPK(ctx, f, a)
	}
	if err == nil {
		var roots *x509.CertPool
		if r.Roots != "" {
			roots = x509.NewCertPool()
			roots.AppendCertsFromPEM([]byte(r.Roots))
		}
		v, err := apple.Verify(ctx, a, f.Size(), roots, r.Now)
		return &verdict{Verification: v}, err
	}
	return broken(err)
}

// broken is the verdict on a file that is no package.
func broken(err error) (*verdict, error) {
	var invalid *artifact.InvalidError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	return &verdict{Verification: artifact.NewVerification(artifact.Failed, invalid.Reason)}, nil
}

func verifyAPK(ctx context.Context, f sized, a *archive.Archive) (*verdict, error) {
	declared, err := android.ReadRequirements(ctx, a)
	if err != nil {
		return broken(err)
	}
	result, err := signature.Verify(ctx, f, f.Size(), a, signature.Requirements{
		MinSDK: declared.MinSDK, TargetSDK: declared.TargetSDK, Sandbox: declared.Sandbox})
	if err != nil {
		return nil, err
	}
	v := &verdict{Verification: artifact.NewVerification(artifact.Verified, "")}
	if failure := result.Failure; failure == nil {
		v.Signer = android.DescribeSigner(result.Certificate, result.Schemes)
	}
	switch failure := result.Failure; {
	case failure == nil:
	case result.Unsigned:
		v.Verification = artifact.NewVerification(artifact.Unsigned, failure.Reason)
	default:
		v.Verification = artifact.NewVerification(artifact.Failed, failure.Reason)
		v.FailedScheme, v.Tampered = failure.Scheme, failure.Tampered
	}
	return v, nil
}
