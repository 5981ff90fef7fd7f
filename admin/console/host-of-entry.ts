import type { ActivityEntry } from './api-types.ts'

/** The host of a call that went to no integration, as the gateway read it; null if the entry does not say. */
export function hostOfEntry({ data }: Pick<ActivityEntry, 'data'>): string | null {
  const { base_url, unlisted_host, tunnel } = data
  if (typeof base_url === 'string' && URL.canParse(base_url)) return new URL(base_url).host
  return [unlisted_host, tunnel].find((one) => typeof one === 'string') ?? null
}
