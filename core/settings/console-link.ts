import { urlOf } from '../system/url-of.ts'
import type { Settings } from './settings.ts'

export type ApiPlace = Pick<Settings, 'apiUrl' | 'apiHost' | 'apiPort'>

/** How operators reach the admin service, without a trailing slash. */
export const apiUrlOf = ({ apiUrl, apiHost, apiPort }: ApiPlace): string =>
  (apiUrl ?? urlOf('http', apiHost, apiPort)).replace(/\/+$/, '')

/** The address of a page of the console. */
export const consoleLink = (place: ApiPlace, ...parts: readonly string[]): string =>
  `${apiUrlOf(place)}/#/${parts.map(encodeURIComponent).join('/')}`
