# ext-proc, the admin service and the `agw` command in one image; Envoy and the store come from their own.
FROM node:22-bookworm-slim AS build
# For re2 where it has no prebuilt file.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node cli/prepare.mjs build && npm prune --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
# The user of the store's image has the same number, so that the sockets in the shared volume fit all.
RUN groupadd --gid 999 agw && useradd --uid 999 --gid 999 --no-create-home agw \
  && mkdir -m 0700 /run/agw && chown agw:agw /run/agw
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app /app
USER 999:999
CMD ["node", "dist/cli/bin.js", "--help"]
