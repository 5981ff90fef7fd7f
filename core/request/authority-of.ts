import type { BaseUrl } from './parse-base-url.ts'

/** Host and port come from the integration, never from the caller's URL (threat model, rule 4). */
export const authorityOf = ({ origin }: BaseUrl): string => origin.slice(origin.indexOf('//') + 2)
