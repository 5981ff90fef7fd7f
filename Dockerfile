# The `agw` command with all programs of the gateway: ext-proc, the access-log receiver and the admin service. Envoy and the
# store have images of their own. For two platforms: docker buildx build --platform linux/amd64,linux/arm64 .
#
# Debian 12 with Node.js 22.23.2; the digest is that of the index of all platforms.
ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9

FROM ${NODE_IMAGE} AS build
# re2 is compiled where it has no prebuilt file.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ tini && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# A mirror of the prebuilt files of re2, for networks that cannot reach GitHub.
ARG RE2_DOWNLOAD_MIRROR
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && CXXFLAGS=-g0 npm rebuild re2
COPY tsconfig.json LICENSE ./
COPY core ./core
COPY ext-proc ./ext-proc
COPY admin ./admin
COPY envoy ./envoy
COPY proto ./proto
COPY cli ./cli
# Only what the programs read. Everybody may read it, whatever the permissions of the sources were.
RUN node cli/prepare.mjs && mkdir /image && cp -r --parents -t /image \
    package.json LICENSE \
    admin/openapi/docs.html admin/openapi/docs.css admin/openapi/docs.js \
    admin/oauth/callback.html admin/oauth/callback.css admin/oauth/callback.js \
    core/lua core/scanner/model/weights.bin core/scanner/model/prompt-weights.bin dist/core/scanner/word-sieve.bin \
    proto envoy/bootstrap.yaml dist/envoy/bootstrap.json \
    dist/THIRD-PARTY-LICENSES dist/sbom.cdx.json dist/chunks dist/console \
    dist/admin/main.js dist/admin/api-thread.js dist/cli/bin.js dist/cli/echo-api.js \
    dist/admin/audit/compress-worker.js dist/core/inspection/scan-worker.js \
    dist/ext-proc/main.js dist/ext-proc/access-log/main.js \
    node_modules/re2/package.json node_modules/re2/LICENSE node_modules/re2/re2.js node_modules/re2/build/Release/re2.node \
  && find /image \( -name '*.map' -o -name '*.d.ts' \) -delete && chmod -R a+rX,go-w /image

FROM ${NODE_IMAGE}
# Node.js is all that runs: without package managers and programs that change the user there is less to misuse.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn* /opt/yarn-* \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
  # The user of the store's image has the same number, so that the sockets in a shared volume fit both.
  && groupadd --gid 999 agw && useradd --uid 999 --gid 999 --no-create-home --home-dir /app agw \
  && mkdir -p -m 0700 /run/agw /var/lib/agw && chown agw:agw /run/agw /var/lib/agw \
  && printf '#!/bin/sh\nexec node /app/dist/cli/bin.js "$@"\n' > /usr/local/bin/agw && chmod 755 /usr/local/bin/agw
# PID 1 has to reap what a crashed process leaves, which Node.js does not.
COPY --from=build /usr/bin/tini /usr/bin/tini
COPY --from=build /usr/share/doc/tini/copyright /usr/share/doc/tini/copyright
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /image /app
USER 999:999
ENTRYPOINT ["tini", "--", "agw"]
CMD ["--help"]
