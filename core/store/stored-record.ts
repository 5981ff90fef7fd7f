/**
 * The formats of stored records, from the first, with the version from which processes read each. One is added only if the version
 * before cannot read the new records; old records are then converted once every live edge can read the new format, and the store
 * demands its version from then on. What a kill reads and writes of an agent (`KillableAgent`) is the same in every format.
 */
export const STORE_FORMATS = [
  { read_from: '0.1.0' },
  /** The user name of a `basic` credential is sealed. */
  { read_from: '0.2.0' },
] as const

export const STORE_FORMAT: number = STORE_FORMATS.length

/** A stored record that is used even in the format of a newer version, as far as it means the same there. */
export interface Formatted {
  /** Absent in records of versions before 0.3, which have at most format 2. */
  readonly store_format?: number
}

/** What cannot be read is neither decided on nor changed. */
export class NewerFormatError extends Error {
  constructor() {
    super(
      `a newer version has stored a record in its format; this one reads up to ${STORE_FORMAT}. Upgrade it`,
    )
  }
}

/** A record as text for the store, with its format. */
export const recordText = <T>(record: T): string =>
  JSON.stringify({ ...record, store_format: STORE_FORMAT })

/** The text of a stored record with other values of some members. It keeps all others, and a newer format. */
export function changedText(text: string, members: object): string {
  const record = JSON.parse(text) as Formatted
  const store_format = isNewer(record) ? record.store_format : STORE_FORMAT
  return JSON.stringify({ ...record, ...members, store_format })
}

/** Whether a version after this one has written a record in a format that this one would misread. */
export const isNewer = ({ store_format = 1 }: Formatted): boolean => store_format > STORE_FORMAT

/** A record from its text; null if it is in a newer format. */
export function readableRecord<T>(text: string): T | null {
  const { store_format = 1, ...record } = JSON.parse(text) as Formatted & T
  return isNewer({ store_format }) ? null : (record as T)
}

/**
 * The same where a record in a newer format ends what is done.
 * @throws NewerFormatError
 */
export function parseRecord<T>(text: string): T {
  const record = readableRecord<T>(text)
  if (record === null) throw new NewerFormatError()
  return record
}
