import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/system/root.ts'

/** A DeltaDiscoveryResponse, as Envoy reads it. */
export interface DeltaAnswer {
  readonly nonce: string
  readonly type_url: string
  readonly resources: readonly { name: string; version: string; resource: { value: Buffer } }[]
  readonly removed_resources: readonly string[]
}

const definition = loadSync('envoy/service/secret/v3/sds.proto', {
  includeDirs: [fromRoot('proto')],
  keepCase: true,
  defaults: true,
})

const { DeltaSecrets } = definition[
  'envoy.service.secret.v3.SecretDiscoveryService'
] as unknown as {
  readonly DeltaSecrets: {
    readonly requestSerialize: (value: object) => Buffer
    readonly responseDeserialize: (bytes: Buffer) => DeltaAnswer
  }
}

/** Envoy's side of delta xDS; the messages are the same for all kinds of resources. */
export const deltaMessages = {
  write: DeltaSecrets.requestSerialize,
  read: DeltaSecrets.responseDeserialize,
} as const
