import { version } from '../system/version.ts'
import { type OtlpAttribute, otlpAttribute } from './otlp-attribute.ts'

/** Who exports: the members of a request of OTLP. */
interface OtlpResource {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] }
  readonly scope: { readonly name: string; readonly version: string }
}

export function otlpResource(
  installation_id: string,
  more: Readonly<Record<string, string>>,
): OtlpResource {
  const attributes = Object.entries({
    'service.name': 'agent-access-gateway',
    'service.version': version,
    'service.namespace': installation_id,
    ...more,
  }).map(([key, value]) => otlpAttribute(key, value))
  return { resource: { attributes }, scope: { name: 'agent-access-gateway', version } }
}
