package servicetest

import (
	"context"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

func startMinio(ctx context.Context, folder *localservice.Folder) (*localservice.Server, error) {
	return folder.Minio(ctx, localservice.MinioConfig{})
}

// Minio returns the URL of a bucket of MinIO for this test alone:
// s3://ACCESS:SECRET@127.0.0.1:PORT/BUCKET?region=REGION&tls=0. The bucket does
// not exist; object.Open makes it where it is told to.
func Minio(t testing.TB) string {
	t.Helper()
	server, err := binary.minio.address(minioVariable, startMinio)
	if err != nil {
		t.Fatalf("test minio: %v", err)
	}
	return withPath(server, "test-"+uniqueName())
}
