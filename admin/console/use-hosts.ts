import { useMemo } from 'preact/hooks'
import { withQuery } from './api.ts'
import type { ActivityEntry, Integration, Page } from './api-types.ts'
import { hostOfEntry } from './host-of-entry.ts'
import { useLoad } from './use-load.ts'

/** The page size of the API; the others are shown by id. */
const KNOWN = '200'

/** The API of an entry: its name, and its host, which a call to no integration has too. */
export type ApiOf = (entry: ActivityEntry) => { readonly name: string; readonly host: string }

export function useHosts(): ApiOf {
  const { value } = useLoad<Page<Integration>>(withQuery('/admin/integrations', { limit: KNOWN }))
  return useMemo(() => {
    const known = new Map(
      value?.data.map(({ integration_id, name, base_url }) => [
        integration_id,
        { name, host: URL.canParse(base_url) ? new URL(base_url).host : base_url },
      ]),
    )
    return (entry) => {
      const id = entry.integration_id
      return (
        (id === null ? undefined : known.get(id)) ?? {
          name: id ?? '',
          host: hostOfEntry(entry) ?? '',
        }
      )
    }
  }, [value])
}
