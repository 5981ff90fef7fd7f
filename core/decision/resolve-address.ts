import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import { coverTarget } from './cover-target.ts'
import type { AddressOverride } from '../request/overrides.ts'
import { parseTarget, type Target } from '../request/parse-target.ts'

/** The address that the upstream would use instead; null if it is not clearly inside the same integration. */
export function resolveAddress(
  address: AddressOverride,
  { integration, target }: { readonly integration: CompiledIntegration; readonly target: Target },
  table: IntegrationTable,
): Target | null {
  const url = urlOf(address, target)
  if (url === null) return null
  const parsed = parseTarget(`/${url}`)
  if (!parsed.ok) return null
  const covered = coverTarget(table, parsed.target)
  return covered.kind === 'covered' && covered.integration === integration ? parsed.target : null
}

function urlOf({ kind, value }: AddressOverride, target: Target): string | null {
  const text = value.trim()
  if (kind === 'host')
    return /[/?#\\]/.test(text) ? null : `${target.scheme}://${text}${target.raw_path}`
  // The scope allows the whole address, so removing a prefix changes nothing.
  if (kind === 'prefix') return text === '/' ? target.origin + target.raw_path : null
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return text
  return target.origin + (text.startsWith('/') ? text : `/${text}`)
}
