import type { Connection } from '../catalogue/model.ts'
import { type Formatted, isNewer } from './stored-record.ts'

/** A connection from its text. One in a format that this version would misread is used by no call. */
export function readConnection(text: string): Connection {
  const connection = JSON.parse(text) as Connection & Formatted
  return isNewer(connection) ? { ...connection, status: 'revoked' } : connection
}
