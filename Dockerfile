# syntax=docker/dockerfile:1
#
#   docker build -t slipway .                    the product
#   docker build -t slipway-minio --target minio .   the object store

FROM golang:1.26-bookworm AS builder
ENV CGO_ENABLED=0
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
# Folders are listed, so that data, keys and .env never get into an image.
COPY api api
COPY cmd/localservice cmd/localservice
COPY cmd/slipway cmd/slipway
COPY cmd/slipway-ci cmd/slipway-ci
COPY migrations migrations
COPY scheduler scheduler
COPY storage storage
COPY tasks tasks
COPY worker worker
# The image knows no git: docker build --build-arg COMMIT=$(git rev-parse HEAD).
ARG COMMIT=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/slipway-qa/slipway/cmd/slipway/version.commit=$COMMIT" -o /out/slipway ./cmd/slipway

# MinIO from source: its published images lack the last security fix. The same
# version as cmd/localservice names.
FROM golang:1.26-bookworm AS minio-builder
ENV CGO_ENABLED=0 GOBIN=/out
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go install -trimpath -ldflags "-s -w" github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c

# The base of both images: certificates for outgoing requests, a user without
# rights, and bash, with which compose.yaml checks the health.
FROM debian:bookworm-slim AS base
COPY --from=builder /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN groupadd --gid 65532 slipway && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin slipway

FROM base AS minio
COPY --from=minio-builder /out/minio /usr/local/bin/minio
# A new volume takes its owner from here.
RUN install -d -o 65532 -g 65532 -m 0700 /data
VOLUME /data
USER 65532:65532
EXPOSE 9000
ENTRYPOINT ["/usr/local/bin/minio"]
CMD ["server", "/data", "--address", ":9000"]

# The last stage is the one that a build without --target builds.
FROM base AS slipway
# Time zones, for schedules; the slim image has none.
COPY --from=builder /usr/local/go/lib/time/zoneinfo.zip /usr/local/share/zoneinfo.zip
ENV ZONEINFO=/usr/local/share/zoneinfo.zip
COPY --from=builder /out/slipway /usr/local/bin/slipway
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/usr/local/bin/slipway"]
CMD ["--help"]
