package servicetest

import (
	"context"
	"net/url"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

func startMinio(ctx context.Context, folder *localservice.Folder) (*localservice.Server, error) {
	return folder.Minio(ctx, localservice.MinioConfig{})
}

// Minio returns the URL of a bucket of MinIO for this test alone:
// s3://ACCESS:SECRET@127.0.0.1:PORT/BUCKET?region=REGION&tls=0. The bucket does
// not exist; object.Open makes it where it is told to. It is removed when the test
// ends.
func Minio(t testing.TB) string {
	t.Helper()
	server, err := binary.minio.address(minioVariable, startMinio)
	if err != nil {
		t.Fatalf("test minio: %v", err)
	}
	bucket := "test-" + uniqueName()
	t.Cleanup(func() {
		if err := removeBucket(server, bucket); err != nil {
			t.Logf("remove test bucket: %v", err)
		}
	})
	return withPath(server, bucket)
}

// removeBucket removes a bucket, if there is one, with all that is in it.
func removeBucket(server, bucket string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	secret, _ := u.User.Password()
	client, err := minio.New(u.Host, &minio.Options{Creds: credentials.NewStaticV4(u.User.Username(), secret, ""),
		Region: u.Query().Get("region")})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err = client.RemoveBucketWithOptions(ctx, bucket, minio.RemoveBucketOptions{ForceDelete: true})
	if minio.ToErrorResponse(err).Code == minio.NoSuchBucket {
		return nil
	}
	return err
}
